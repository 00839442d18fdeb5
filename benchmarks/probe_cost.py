"""What the probes cost: `python -m benchmarks.probe_cost --backend NUMBA --pairs 500`.

Runs in the environment under test and prints a JSON object a line, one for each pair of twins:
forks of one process that has built the graph once, of which one has the probes installed. Each
compiles the graph a second time and calls it, from a filled cache: the clock of `warm_process`, of
which the probes are the largest part. Twins begin alike (hash seed, addresses, what is in memory)
and wait for nothing else, so that most of a long run is inside the clock: builds scatter by 20 % on
a shared machine, and it takes thousands to see one part in a hundred.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from benchmarks import sandbox
from benchmarks.catalogue import BACKENDS, MODELS
from benchmarks.sandbox import Sandbox

if TYPE_CHECKING:
    from benchmarks.bench import Bench
    from benchmarks.models import Graph

_INSIDE = "--inside"
"""The process that imports PyTensor: it can only be told where its cache is beforehand."""


def main() -> int:
    """The command; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", required=True, choices=BACKENDS)
    parser.add_argument("--pairs", type=int, required=True, metavar="N")
    parser.add_argument("--calls", action="store_true",
                        help="count the Python functions that a build enters instead of seconds: "
                             "exact, so that one pair tells")  # fmt: skip
    parser.add_argument(_INSIDE, action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        _twins(options.backend, options.pairs, _calls if options.calls else _seconds)
        return 0
    box = Sandbox.make()
    try:
        env = box.environment(sandbox.new_seed(), BACKENDS[options.backend].flags or None)
        command = [sys.executable, "-m", "benchmarks.probe_cost", *sys.argv[1:], _INSIDE]
        return subprocess.run(command, env=env, cwd=box.work, check=False).returncode
    finally:
        box.remove()


Measure = Callable[["Bench", "Graph"], float]


def _twins(backend: str, pairs: int, measure: Measure) -> None:
    import pytensor.tensor  # noqa: F401

    from benchmarks import backends
    from benchmarks.bench import Bench

    mode = backends.mode(backend)
    bench = Bench(MODELS["radon"].build(None), backend, "fork", mode, "timing", probed=True)
    bench.warm_up("first build")
    graph = bench.graph()
    gc.collect()
    gc.freeze()  # what a fork does not touch is not copied
    for number in range(pairs):
        # The order alternates (A B B A), so that no side is always the first.
        order = (False, True) if number % 2 else (True, False)
        found = {probed: _of_fork(bench, graph, probed, measure) for probed in order}
        print(json.dumps({"without": found[False], "with": found[True]}), flush=True)


def _seconds(bench: Bench, graph: Graph) -> float:
    begin = time.perf_counter()
    graph.compile(bench.mode)(graph.point)
    return time.perf_counter() - begin


def _calls(bench: Bench, graph: Graph) -> float:
    from benchmarks.probes.process import counting_calls

    calls: list[int] = []
    with counting_calls(calls):
        graph.compile(bench.mode)(graph.point)
    return calls[0]


def _of_fork(bench: Bench, graph: Graph, probed: bool, measure: Measure) -> float:
    """Measure one build and call in a fork of this process. Raises ChildProcessError."""
    from benchmarks.backends import install_probes

    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            if probed:
                install_probes(bench.backend, bench.ledger)
                bench.ledger.recording = True
            os.write(writing, str(measure(bench, graph)).encode())
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
