"""Measure what the probes cost: `python -m benchmarks.probe_cost --backend NUMBA --pairs 500`.

This runs in the environment under test and prints one line of JSON for each pair of twins: two
forks of a process that has built the graph once, one of them with the probes installed. Each twin
compiles the graph a second time, from a filled cache, and calls it. That is the span of
`warm_process`, in which the probes have the largest share. Both twins begin with the same hash
seed, addresses and memory. Builds scatter by 20 % on a shared machine, so that it takes thousands
of pairs to see an effect of 1 %.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from benchmarks import sandbox
from benchmarks.catalogue import BACKENDS, MODELS
from benchmarks.sandbox import Sandbox
from benchmarks.workers import forked

if TYPE_CHECKING:
    from benchmarks.bench import Bench
    from benchmarks.models import Graph

_INSIDE = "--inside"
"""Marks the process that imports PyTensor, after its environment says where the cache is."""


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
    from benchmarks.probes.profile import Tracer

    calls: list[int] = []
    with Tracer().counting_calls(calls):
        graph.compile(bench.mode)(graph.point)
    return calls[0]


def _of_fork(bench: Bench, graph: Graph, probed: bool, measure: Measure) -> float:
    """Measure one build and call in a fork of this process. Raises WorkerDied."""
    from benchmarks.backends import install_probes

    def build() -> float:
        if probed:
            install_probes(bench.backend, bench.ledger)
            bench.ledger.recording = True
        return measure(bench, graph)

    return float(forked(build))


if __name__ == "__main__":
    sys.exit(main())
