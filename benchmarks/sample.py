"""Take ONE sample: `python -m benchmarks.sample --model radon --scenario cold --backend NUMBA`.

This runs in the environment under test and prints one JSON record on stdout (docs/schemas/). The
process imports nothing but the standard library: it makes a sandbox, starts the measured process
in it (`benchmarks.child`), watches it, and removes everything again. Whatever measures does it
through this module: the ASV suites, `observatory run` and the other commands.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from . import (
    apart,
    dispatch,
    fillers,
    import_times,
    pairs,
    pinning,
    records,
    sandbox,
    shared_cache,
    sweeping,
    trace,
)
from .catalogue import (
    BACKENDS,
    LAUNCHES,
    MEASURES,
    MODELS,
    SCENARIOS,
    Cell,
)
from .fillers import CacheError
from .messages import OpCoverage, SampleRecord
from .parent import end_with_parent
from .process import Ending
from .records import Processes
from .request import DEFAULT_TIMEOUT, Request
from .sandbox import Sandbox
from .typed_json import to_json

EXIT_MEASURED, EXIT_USAGE, EXIT_FAILED, EXIT_UNAVAILABLE = 0, 2, 3, 4


def take(request: Request) -> SampleRecord:
    """Take one sample and return its record.

    A sample that goes wrong has a record too: its status says how. Raises CacheError if the request
    names an unusable cache, or a place where none can be kept; OSError if the sandbox cannot be
    made.
    """
    began = time.monotonic()
    started_at = datetime.now(UTC)
    sweeping.sweep()
    seed = _choose_seed(request)
    names = fillers.row_of_names(request.cache) if request.measure == "work" else ()
    with Sandbox.open(names) as made:
        box = replace(made, variables=request.variables)
        family = SCENARIOS[request.cell.scenario].family
        processes = _TAKE.get(family, _single)(request, box, seed)
        leaked = box.leaked()
        box_metrics: dict[str, float] = {"cache_bytes": box.cache_bytes()}
        if "TMPDIR" not in request.variables:
            box_metrics["files_leaked"] = sum(leaked.values())
        if processes.filled is not None:
            box_metrics |= box.grown(processes.filled)
        if request.keep_cache is not None and processes.measured.status == "ok":
            box.keep_cache(request.keep_cache, seed)
        removing = time.monotonic()
    processes = replace(processes, prepare=processes.prepare + time.monotonic() - removing)
    return records.assemble(
        request,
        processes,
        box_metrics,
        leaked=leaked,
        hash_seed=seed,
        started_at=started_at,
        total=time.monotonic() - began,
    )


def _choose_seed(request: Request) -> int:
    """Under fork, processes that share a cache share the seed of the process that filled it."""
    if request.hash_seed is not None:
        return request.hash_seed
    if request.measure == "work":
        return pinning.SEED
    if request.cell.launch == "fork" and request.cache is not None:
        return fillers.read_seed(request.cache)
    return fillers.new_seed()


def _single(request: Request, box: Sandbox, seed: int) -> Processes:
    """One measured process, after a fill where a warm cell was given no cache."""
    began = time.monotonic()
    pins = pinning.find().inside(box.path) if request.measure == "work" else None
    flags = ",".join(filter(None, (request.pytensor_flags, pins.flags() if pins else None))) or None

    def environment(hash_seed: int) -> dict[str, str]:
        if pins is None:
            return box.environment(hash_seed, flags, backend=request.backend)
        inherited = box.environment(hash_seed, flags, pinning.INHERITED, backend=request.backend)
        return pins.padded(inherited | pins.variables(box.path))

    filler: Ending | None = None
    fill = 0.0
    if request.cache is not None:
        box.start_from(request.cache)
    elif SCENARIOS[request.cell.scenario].warm:
        shared = request.cell.launch == "fork" or pins is not None
        filler_seed = seed if shared else next(fillers.seeds_from(seed))
        env = environment(filler_seed)
        python = (sys.executable,) if pins is None else pins.interpreter(box.path, counting=False)
        job = request.job(box, apart.role_of("fill", request.cell.scenario))
        filler = apart.run(box, job, env, request.timeout, interpreter=python)
        fill = filler.exit.seconds
        if filler.status != "ok":
            return Processes(filler, filler=filler, fill=fill)
        filled = box.path / "filled"
        box.keep_cache(filled, filler_seed)
        box.start_from(filled)
        box.empty_tmp()
    filled_with = box.cache_files() if request.cache is not None or filler is not None else None
    prepare = time.monotonic() - began - fill
    env = environment(seed)
    # An index of its own: the forks of the filler have reported under 0.
    job = request.job(box, apart.role_of("measure", request.cell.scenario), 1)
    python = (sys.executable,)
    if pins is not None:
        counted = not pinning.problem(request.cell)
        job = replace(job, counter=pins.counter if counted else None, problem=pins.problem)
        python = pins.interpreter(box.path, counted)
    measured = apart.run(box, job, env, request.timeout, interpreter=python)
    of_pair = SCENARIOS[request.cell.scenario].of_pair
    if of_pair == "second":
        measured = pairs.judged(request, box, seed, measured)
    elif of_pair == "keys":
        measured = pairs.proven(request, box, seed, measured)
    found = import_times.take(box, env, request.timeout) if request.imports else ()
    covered: OpCoverage | None = None
    if _covers_ops(request) and measured.report is not None:
        covered = dispatch.take(box, env, request.timeout, measured.report.ops)
    if SCENARIOS[request.cell.scenario].apart:
        filler = None  # its graphs have the names of those that were measured
    return Processes(
        measured, filler=filler, prepare=prepare, fill=fill, imports=found, coverage=covered,
        filled=filled_with,
    )  # fmt: skip


def _covers_ops(request: Request) -> bool:
    """Whether the sample builds all graphs of one Op, and not only those of a quick set."""
    cell = request.cell
    covers = SCENARIOS[cell.scenario].covers_ops and not MODELS[cell.model].quick_of
    return covers and request.measure == "counting"


_TAKE: dict[str, Callable[[Request, Sandbox, int], Processes]] = {
    "siblings": shared_cache.take_siblings,
    "upgrade": shared_cache.take_upgrade,
}
"""The families of scenarios with more than one measured process."""


def _parser() -> argparse.ArgumentParser:
    def listing(words: Mapping[Any, Any]) -> str:
        return "; ".join(f"{word}: {getattr(one, 'meaning', one)}" for word, one in words.items())

    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.sample",
        description="Take one sample in an isolated cache directory and print it as JSON.",
        epilog=f"Exit status: {EXIT_MEASURED} measured, {EXIT_USAGE} wrong usage, "
        f"{EXIT_FAILED} the measured process raised, died or hung (the record says how), "
        f"{EXIT_UNAVAILABLE} this environment cannot give the cell (the record says why).",
    )
    parser.add_argument("--model", default="radon", choices=MODELS, help=listing(MODELS))
    parser.add_argument("--scenario", required=True, choices=SCENARIOS, help=listing(SCENARIOS))
    parser.add_argument("--backend", required=True, choices=BACKENDS, help=listing(BACKENDS))
    parser.add_argument("--launch", default="spawn", choices=LAUNCHES, help=listing(LAUNCHES))
    parser.add_argument("--pass", dest="measure", default="timing", choices=MEASURES,
                        help=listing(MEASURES))  # fmt: skip
    parser.add_argument("--measure", default=argparse.SUPPRESS, choices=MEASURES,
                        help=argparse.SUPPRESS)  # fmt: skip
    parser.add_argument("--cache", type=Path, metavar="DIR",
                        help="start from a copy of a cache that --keep-cache left")  # fmt: skip
    parser.add_argument("--keep-cache", type=Path, metavar="DIR",
                        help="leave a copy of the caches here afterwards")  # fmt: skip
    parser.add_argument("--keep-fresh", type=Path, metavar="DIR",
                        help="scenario upgrade: leave a copy of the cache that was filled from "
                             "empty here")  # fmt: skip
    parser.add_argument(
        "--flags",
        metavar="PYTENSOR_FLAGS",
        help="further flags, as a user would set them; the record does not name them",
    )
    parser.add_argument("--variable", action="append", default=[], metavar="NAME=VALUE",
                        help="a variable of the measured processes, as a user would set it; "
                             "repeatable")  # fmt: skip
    parser.add_argument("--radon-data", type=Path, metavar="FILE.csv",
                        help="real data, with the columns county, floor and log_radon")  # fmt: skip
    parser.add_argument("--described", type=Path, metavar="FILE.json", dest="graphs",
                        help="the graphs of the model `keys`, as benchmarks/described.py has them, "
                             "in place of its own")  # fmt: skip
    parser.add_argument(
        "--hash-seed", type=int, metavar="N", help="use this PYTHONHASHSEED instead of a new one"
    )
    parser.add_argument("--graph", action="append", default=[], dest="only", metavar="NAME",
                        help="build only this member of the model; repeatable")  # fmt: skip
    parser.add_argument("--imports", action="store_true",
                        help="tracing pass: also the seconds of each imported module")  # fmt: skip
    parser.add_argument("--timeout", type=float, default=DEFAULT_TIMEOUT, metavar="SECONDS",
                        help="time limit of each process (default %(default)g)")  # fmt: skip
    parser.add_argument("--trace", type=Path, metavar="FILE",
                        help="append what the processes did, as lines of JSON")  # fmt: skip
    parser.add_argument("--end-with-parent", action="store_true",
                        help="clean up and exit when the parent process dies")  # fmt: skip
    parser.add_argument("--sealed", action="store_true",
                        help="print the record behind the line that stdin begins with, by which "
                             "the reader knows whose it is")  # fmt: skip
    parser.add_argument("--pretty", action="store_true", help="indent the record")
    return parser


def main(argv: list[str] | None = None) -> int:
    """Run the command and return its exit status, which `--help` lists.

    ``argv``: the arguments; None: those of this process. Raises SystemExit for wrong usage.
    """
    parser = _parser()
    options = parser.parse_args(argv)
    cell = Cell(options.model, options.scenario, options.backend, options.launch)
    if (problem := cell.problem()) is not None:
        parser.error(problem)
    if options.keep_fresh is not None and SCENARIOS[cell.scenario].family != "upgrade":
        parser.error("--keep-fresh goes with --scenario upgrade")
    if bad := [one for one in options.variable if "=" not in one]:
        parser.error(f"--variable {bad[0]}: write NAME=VALUE")
    if options.trace is not None:
        os.environ[trace.VARIABLE] = str(options.trace.resolve())
    # A sample that is terminated, or loses its terminal, cleans up like an interrupted one.
    for number in sandbox.ENDING:
        signal.signal(number, sandbox.end_once)
    if options.end_with_parent:
        end_with_parent(signal.SIGTERM)
    # Read before anything is measured, and closed to whatever is measured.
    seal = f"{sys.stdin.readline().strip()} " if options.sealed else ""
    request = Request(
        cell=cell,
        measure=options.measure,
        cache=options.cache,
        keep_cache=options.keep_cache,
        keep_fresh=options.keep_fresh,
        flags=options.flags,
        variables=dict(one.split("=", 1) for one in options.variable),
        data=options.radon_data,
        graphs=options.graphs,
        hash_seed=options.hash_seed,
        imports=options.imports and options.measure == "tracing",
        only=tuple(options.only),
        timeout=options.timeout,
    )
    try:
        known = request.model.members
    except (OSError, ValueError) as error:
        parser.error(f"--described: {error}")
    if unknown := [name for name in options.only if name not in known]:
        parser.error(f"--graph {unknown[0]}: the model {cell.model} has no graph of this name")
    try:
        record = take(request)
    except CacheError as error:
        parser.error(str(error))
    print(seal + to_json(record, indent=2 if options.pretty else None))
    if record.status == "ok":
        return EXIT_MEASURED
    return EXIT_UNAVAILABLE if record.status == "unavailable" else EXIT_FAILED


if __name__ == "__main__":
    sys.exit(main())
