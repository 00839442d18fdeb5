"""Measure what the probes cost: `python -m benchmarks.probe_cost --backend NUMBA --pairs 500`.

This runs in the environment under test and prints one line of JSON for each pair of twins: two
forks of a process that has built the graph once, one of them with the probes installed. Each twin
compiles the graph again, from a filled cache, and calls it: that is the span of `warm_process`, in
which the probes have the largest share. Both twins begin with the same hash seed, addresses and
memory. Builds scatter by 20 % on a shared machine, so that an effect of 1 % takes thousands of
pairs to see.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
import time
from contextlib import nullcontext
from functools import partial

from . import fillers
from .catalogue import BACKENDS, MODELS
from .sandbox import Sandbox
from .workers import forked

_INSIDE = "--inside"
"""Marks the process that imports PyTensor, which runs with the environment of a sandbox."""


def main() -> int:
    """Run the command and return its exit status. Raises SystemExit for wrong usage."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", required=True, choices=BACKENDS)
    parser.add_argument("--pairs", type=int, required=True, metavar="N")
    parser.add_argument("--calls", action="store_true",
                        help="count the Python functions that a build enters, instead of seconds; "
                             "the count is exact, and one pair is enough")  # fmt: skip
    parser.add_argument(_INSIDE, action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        _twins(options.backend, options.pairs, options.calls)
        return 0
    with Sandbox.open() as box:
        backend = BACKENDS[options.backend]
        env = box.environment(fillers.new_seed(), backend.flags or None, backend=backend)
        command = [sys.executable, "-m", "benchmarks.probe_cost", *sys.argv[1:], _INSIDE]
        return subprocess.run(command, env=env, cwd=box.work, check=False).returncode


def _twins(backend: str, pairs: int, count_calls: bool) -> None:
    import pytensor.tensor  # noqa: F401

    from . import backends
    from .bench import Bench
    from .probes.profile import Tracer

    mode = backends.mode(backend)
    bench = Bench(MODELS["radon"].build(None), backend, "fork", mode, "timing", probed=True)
    bench.warm_up("first build")
    graph = bench.graph()

    def build(probed: bool) -> float:
        if probed:
            backends.install_probes(bench.backend, bench.ledger)
            bench.ledger.recording = True
        calls: list[int] = []
        with Tracer().counting_calls(calls) if count_calls else nullcontext():
            begin = time.perf_counter()
            graph.compile(bench.mode)(graph.point)
            seconds = time.perf_counter() - begin
        return calls[0] if count_calls else seconds

    gc.collect()
    gc.freeze()  # what a fork does not touch is not copied
    for number in range(pairs):
        # The order alternates (A B B A), so that no side is always the first.
        order = (False, True) if number % 2 else (True, False)
        found = {probed: forked(partial(build, probed)) for probed in order}
        print(json.dumps({"without": found[False], "with": found[True]}), flush=True)


if __name__ == "__main__":
    sys.exit(main())
