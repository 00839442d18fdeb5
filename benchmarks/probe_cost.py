"""What the probes cost: `python -m benchmarks.probe_cost --backend NUMBA --pairs 500`.

Runs in the environment under test and prints a JSON object a line, one for each pair of twins:
forks of one process that has built the graph once, of which one has the probes installed. Each
builds it a second time, from a filled cache: the build of `warm_process`, of which the probes are
the largest part. Twins begin alike (hash seed, addresses, what is in memory), so that a pair
differs by what happens meanwhile and by the probes; separate processes differ by 20 % without any.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from typing import Any

from benchmarks import backends, sandbox
from benchmarks.sandbox import Sandbox
from benchmarks.vocabulary import BACKENDS

_INSIDE = "--inside"
"""The process that imports PyTensor: it can only be told where its cache is beforehand."""


def main() -> int:
    """The command; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", required=True, choices=BACKENDS)
    parser.add_argument("--pairs", type=int, required=True, metavar="N")
    parser.add_argument(_INSIDE, action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        _twins(options.backend, options.pairs)
        return 0
    box = Sandbox.make()
    try:
        env = box.environment(sandbox.new_seed(), backends.FLAGS.get(options.backend))
        command = [sys.executable, "-m", "benchmarks.probe_cost", *sys.argv[1:], _INSIDE]
        return subprocess.run(command, env=env, cwd=box.work, check=False).returncode
    finally:
        box.remove()


def _twins(backend: str, pairs: int) -> None:
    import pytensor.tensor  # noqa: F401

    from benchmarks import models
    from benchmarks.scenarios import Bench

    mode = backends.mode(backend)
    bench = Bench(models.load("radon", None), backend, "fork", mode, "timing", probed=False)
    bench.warm_up("first build")
    for number in range(pairs):
        # The order alternates (A B B A), so that no side is always the first.
        order = (False, True) if number % 2 else (True, False)
        seconds = {probed: _build_of_fork(bench, probed) for probed in order}
        print(json.dumps({"without": seconds[False], "with": seconds[True]}), flush=True)


def _build_of_fork(bench: Any, probed: bool) -> float:
    """compile_time of one build in a fork of this process, in seconds. Raises ChildProcessError."""
    from benchmarks.scenarios import install_probes

    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            bench.probed = probed
            if probed:
                install_probes(bench)
            found = bench.measured_build("build")
            os.write(writing, json.dumps(found["compile_time"]).encode())
        finally:
            sys.stderr.flush()
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as stream:
        told = stream.read()
    os.waitpid(pid, 0)
    if not told:
        raise ChildProcessError("a fork reported nothing: stderr says why")
    return float(told)


if __name__ == "__main__":
    sys.exit(main())
