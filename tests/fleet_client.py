"""A run with a stand-in for the benchmarks, as a process that can be killed.

`python tests/fleet_client.py DIRECTORY [--cluster WHERE] [--resume] [--rounds N] [--beside]`; its
results are in DIRECTORY/results. ``--beside`` measures two subjects at once.
"""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from observatory.app.cluster import on_cluster
from observatory.app.session import Session
from observatory.app.taking import Tally, samples_of, take_samples
from observatory.app.telling import Course
from observatory.benchmarks.catalogue import cells
from observatory.benchmarks.plan import Rounds, Task, plan
from observatory.errors import ObservatoryError
from observatory.run.batches import carry_out
from observatory.run.environments import Environment
from observatory.store.records.machine import this_machine
from tests.factories import header

BESIDE = ("3.3.6", "3.3.7")
"""The subjects that are measured at once."""
SAMPLING = Path(__file__).with_name("fake_sampling.py")


def tasks(rounds: int = 1) -> list[Task]:
    """Twelve cells counted ``rounds`` times, six of which start from a filled cache."""
    chosen = cells(("radon",), ("cold", "warm_disk"), ("C", "C_VM", "NUMBA"), ("fork", "spawn"))
    return plan(chosen, Rounds(timing=rounds, counting=rounds))


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


def run(
    directory: Path, cluster: str | None = None, *, resume: bool = False, rounds: int = 1
) -> Tally:
    """Take all samples, here or on a cluster."""
    with on_cluster(session(directory, resume=resume), cluster) as own:
        return take_samples(own, header().subject, environment(directory / "env"), tasks(rounds))


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


def main() -> None:
    """Take the samples that the command line asks for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=Path)
    parser.add_argument("--cluster")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--beside", action="store_true")
    given = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        if given.beside:
            tally = run_beside(given.directory, given.cluster, resume=given.resume)
        else:
            tally = run(given.directory, given.cluster, resume=given.resume, rounds=given.rounds)
    except ObservatoryError as error:
        sys.exit(str(error))
    print(tally.sentence())


if __name__ == "__main__":
    main()
