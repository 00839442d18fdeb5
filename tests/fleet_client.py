"""A run with a stand-in for the benchmarks, as a process that can be killed.

`python tests/fleet_client.py DIRECTORY [--cluster WHERE] [--resume] [--beside | --pairs N]
[--elsewhere]`; its results are in DIRECTORY/results. ``--beside`` measures two subjects at once;
``--pairs`` takes N pairs of times for a comparison, of which each side has a directory of its own.
With ``--elsewhere`` some workers stand in for other machines (`fleet_elsewhere`), and a machine
that is lost is not waited for.
"""

from __future__ import annotations

import argparse
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from observatory.analyze.comparison.comparing import Setting
from observatory.app.cluster import on_cluster
from observatory.app.comparer import Comparer, Measured
from observatory.app.session import Session
from observatory.app.taking import Journals, Tally, samples_of, take_samples
from observatory.app.telling import Course
from observatory.benchmarks.catalogue import cells
from observatory.benchmarks.plan import Rounds, Task, plan
from observatory.errors import ObservatoryError
from observatory.run.batches import carry_out
from observatory.run.environments import Environment
from observatory.run.interleave import SIDES, Matrix
from observatory.store.journal.models import JournalHeader
from observatory.store.records.comparison import Side
from observatory.store.records.machine import this_machine
from tests.factories import header

BESIDE = ("3.3.6", "3.3.7")
"""The subjects that are measured at once."""
SAMPLING = Path(__file__).with_name("fake_sampling.py")


def tasks() -> list[Task]:
    """Twelve cells in both passes, six of which start from a filled cache."""
    chosen = cells(("radon",), ("cold", "warm_disk"), ("C", "C_VM", "NUMBA"), ("fork", "spawn"))
    return plan(chosen, Rounds(timing=1, counting=1))


def counted() -> list[Task]:
    """Those of them that two subjects can take at once: they have no times."""
    return [task for task in tasks() if task.measure == "counting"]


def environment(directory: Path, key: str = "fake") -> Environment:
    """An environment under test whose Python runs the stand-in."""
    python = directory / "python"
    if not python.exists():
        directory.mkdir(parents=True, exist_ok=True)
        python.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S {SAMPLING} "$@"\n')
        python.chmod(0o755)
    return Environment(python, header().versions, key, directory)


def session(directory: Path, *, resume: bool = False) -> Session:
    """What takes the samples into DIRECTORY/results; it prints what it says."""

    def show(update: object) -> None:
        if str(update):
            print(update, flush=True)

    return Session(
        "fake", directory / "results", directory / "state", this_machine("bench"), 60.0,
        resume=resume, progress=show,
    )  # fmt: skip


def run(directory: Path, cluster: str | None = None, *, resume: bool = False) -> Tally:
    """Take all samples, here or on a cluster."""
    with on_cluster(session(directory, resume=resume), cluster) as own:
        return take_samples(own, header().subject, environment(directory / "env"), tasks())


def run_beside(directory: Path, cluster: str | None = None, *, resume: bool = False) -> Tally:
    """Take the counting samples of two subjects, both at once."""
    total, chosen = Tally(), counted()
    with on_cluster(session(directory, resume=resume), cluster) as own:
        course = Course(own.progress, own.workers)
        lines = [
            samples_of(
                own, header(label).subject, environment(directory / "env", label), chosen,
                course.of(label, chosen), total,
            )
            for label in BESIDE
        ]  # fmt: skip
        carry_out(lines, own.workers, at_once=len(lines))
    return total


def run_pairs(directory: Path, cluster: str | None, rounds: int) -> Tally:
    """Take ``rounds`` pairs of times of one cell, for a comparison of a subject with itself."""
    chosen = tuple(cells(("radon",), ("warm_disk",), ("C",), ("spawn",)))
    made = environment(directory / "env")
    with on_cluster(session(directory), cluster) as own:
        side = Side(subject=header().subject, versions=made.versions, machine=own.machine)
        sides = {
            name: Measured(
                made, Journals(directory / "results" / name, JournalHeader(**dict(side)))
            )
            for name in SIDES
        }
        setting = Setting(side, side, datetime.now(UTC), True, 0, "", "")
        matrix = Matrix((("all", chosen),), (), chosen)
        Comparer(own, dict(sides), setting, matrix, 0.0).sample(rounds)
    return Tally(taken=sum(len(side.evidence.samples) for side in sides.values()))


def others_are_elsewhere() -> None:
    """Let workers be machines that have the environment, and be lost when they are gone."""
    from observatory.fleet import cluster, preparing
    from observatory.fleet.orders import Recipe

    gathered = cluster.gathered

    def impatient(*given: Any) -> Any:
        fleet = gathered(*given)
        fleet.crew.patience = 0.0
        return fleet

    preparing.described = lambda subject, added, pins, made, _: (  # type: ignore[assignment]
        Recipe(subject, tuple(added), dict(pins), made), {}
    )  # fmt: skip
    cluster.gathered = impatient


def main() -> None:
    """Take the samples that the command line asks for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=Path)
    parser.add_argument("--cluster")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--beside", action="store_true")
    parser.add_argument("--pairs", type=int)
    parser.add_argument("--elsewhere", action="store_true")
    given = parser.parse_args()
    if given.elsewhere:
        others_are_elsewhere()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        if given.pairs:
            tally = run_pairs(given.directory, given.cluster, given.pairs)
        elif given.beside:
            tally = run_beside(given.directory, given.cluster, resume=given.resume)
        else:
            tally = run(given.directory, given.cluster, resume=given.resume)
    except ObservatoryError as error:
        sys.exit(str(error))
    print(tally.sentence())


if __name__ == "__main__":
    main()
