"""Results with counted work, written as a run writes them. FOR TESTS ONLY: nothing is counted."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from observatory.benchmarks.catalogue import Cell
from observatory.store.asv.files import project
from observatory.store.records.sample import Failure, Sample
from tests.factories import header, journal, sample

SPAWNED = Cell("radon", "warm_process", "NUMBA", "spawn")
CALLGRIND, HARDWARE = "callgrind, code for haswell", "hardware (A CPU), code for haswell"
NOTHING = "nothing counts instructions here: valgrind is not installed"


def work(instructions: float, source: str = CALLGRIND, cell: Cell = SPAWNED) -> Sample:
    """A sample of the pass `work`."""
    return sample(cell, "work", {"instructions": instructions}, counted_by=source)


def uncounted(cell: Cell = SPAWNED) -> Sample:
    """A sample of the pass `work` on a machine on which nothing counts."""
    taken = sample(cell, "work", status="unavailable", failure=Failure(message=NOTHING))
    return taken.model_copy(update={"metrics": {}})


def recorded(results: Path, number: int, samples: Sequence[Sample]) -> None:
    """Record samples of release 3.3.NUMBER, which is of day NUMBER."""
    date = datetime(2026, 8, 1, tzinfo=UTC) + timedelta(days=number)
    project(results, journal(results, samples, under=header(f"3.3.{number}", date=date)).read())


def history(results: Path, *counts: tuple[float, str]) -> Path:
    """Results of a release for each of these counts of instructions and what counted them."""
    for number, (instructions, source) in enumerate(counts):
        timed = sample(SPAWNED, metrics={"compile_time": 0.25 + number / 1000})
        recorded(results, number, [timed, work(instructions, source)])
    return results
