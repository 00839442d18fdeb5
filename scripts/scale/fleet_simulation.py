"""How a fleet scales: 1 to 16 workers, whose samples sleep as long as real ones took.

    python -m scripts.scale.fleet_simulation [--speed 20] [--workers 1 2 4 8 16] [--json FILE]

The durations are those that the journals of RESULTS record for the quick preset, divided by SPEED;
the tasks, the planner, Dask, the spool and the journals are the real ones. The workers share the
CPUs of this machine, which sleeping samples leave idle. It prints for each number of workers the
time, how many times faster than the first number that is, the share of their time in which workers
had no sample, the median time between two samples of a worker, and the CPU time that the client and
a worker spend on each sample.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from statistics import median

from observatory.app.session import Session
from observatory.app.taking import take_samples
from observatory.benchmarks.plan import Task
from observatory.fleet.opening import opened
from observatory.run.presets import PRESETS, Narrowed, tasks_of
from observatory.store.journal.reader import read_journal
from observatory.store.records import layout
from observatory.store.records.machine import this_machine
from observatory.text.words import several
from scripts.docs.rows import add_option, keep, now
from scripts.scale.tables import Scaled, simulation
from tests.factories import header
from tests.fleet_sleeping import LOG, SPEED, Simulated


def durations(results: Path) -> dict[str, float]:
    """The median seconds that a sample of each cell and pass took, as the journals say."""
    found: dict[str, list[float]] = {}
    for path in layout.journals(results):
        for entry in read_journal(path).entries:
            one = entry.sample
            if one.overhead is not None:
                found.setdefault(f"{one.cell} {one.measure}", []).append(one.overhead.total)
    return {name: median(times) for name, times in found.items()}


@dataclass(frozen=True)
class Simulation:
    """What a run of sleeping samples took."""

    seconds: float
    """From the begin of the first sleep to the end of the last one."""
    slept: float
    """The sum of all sleeps, in seconds."""
    between: float
    """The median time from the end of a worker's sleep to the begin of its next one, in seconds."""
    cpu: float
    """Seconds of CPU for each sample, of the client with its scheduler and of the worker."""


def simulated(workers: int, tasks: list[Task], where: Path, known: Path) -> Simulation:
    """Carry out a plan with sleeping samples."""
    log = where / "log"
    os.environ[LOG] = str(log)
    subject = header().subject
    environment = Simulated(Path(sys.executable), header().versions, "simulated", known)
    with opened(f"local:{workers}", where / "state", print, shared=True) as fleet:
        session = Session(
            "fake", where / "results", where / "state", this_machine("simulated"), fleet=fleet,
            workers=fleet.workers,
        )  # fmt: skip
        began = time.process_time()
        take_samples(session, subject, environment, tasks)
        client = time.process_time() - began
    sleeps: dict[str, list[tuple[float, float]]] = {}
    used: dict[str, list[float]] = {}
    for line in log.read_text().splitlines():
        worker, *numbers = line.split()
        start, end, cpu = map(float, numbers)
        sleeps.setdefault(worker, []).append((start, end))
        used.setdefault(worker, []).append(cpu)
    every = [one for of_worker in sleeps.values() for one in of_worker]
    gaps = [
        after[0] - before[1]
        for of_worker in sleeps.values()
        for before, after in pairwise(sorted(of_worker))
    ]
    first, last = min(began for began, _ in every), max(ended for _, ended in every)
    # Between the first sample of a worker and its last one: the first loads modules.
    own = sum(one[-1] - one[0] for one in used.values()) / sum(
        len(one) - 1 for one in used.values()
    )
    return Simulation(
        last - first, sum(end - start for start, end in every), median(gaps),
        client / len(every) + own,
    )  # fmt: skip


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--speed", type=float, default=20.0)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    parser.add_argument("--rounds", type=int, default=8, help="how often each sample is taken")
    add_option(parser)
    given = parser.parse_args()
    known = durations(given.results)
    quick = [
        task for task in tasks_of(PRESETS["quick"], Narrowed(measures=["counting"]))
        if f"{task.cell} {task.measure}" in known
    ]  # fmt: skip
    tasks = quick + [
        replace(task, round=number)
        for number in range(1, given.rounds) for task in quick if task.keep is None
    ]  # fmt: skip
    os.environ[SPEED] = str(given.speed)
    longest = max(known[f"{task.cell} {task.measure}"] for task in tasks) / given.speed
    rows = []
    for workers in given.workers:
        where = Path(tempfile.mkdtemp(prefix="fleet-simulation-"))
        try:
            files = where / "durations"
            files.mkdir()
            for name, seconds in known.items():
                (files / name).write_text(str(seconds))
            found = simulated(workers, tasks, where, files)
        finally:
            shutil.rmtree(where)
        row = Scaled(
            taken=now(), workers=workers, samples=len(tasks), speed=given.speed, longest=longest,
            **asdict(found),
        )  # fmt: skip
        rows.append(row)
        keep(given.json, row)
        print(f"{several(workers, 'worker')}: {row.seconds:.1f} s", flush=True)
    print(*simulation(rows), sep="\n\n")


if __name__ == "__main__":
    main()
