"""What each step of the path took, from all passes of a cell."""

from __future__ import annotations

from typing import Any

from observatory.benchmarks.catalogue import Cell
from observatory.store.journal.models import JournalEntry
from observatory.store.reading.walks import walks_of
from tests.factories import entry, sample

PATH = Cell("eight_schools", "path_warm", "NUMBA", "spawn")


def taken(measure: str, metrics: dict[str, float], **step: Any) -> JournalEntry:
    return entry(sample(PATH, measure, steps=[{"name": "sample", "metrics": metrics, **step}]))


def test_a_step_has_the_metrics_of_every_pass_and_says_who_asked() -> None:
    entries = [
        taken("timing", {"step_time": 1.5, "wrong_results": 0}),
        taken("counting", {"cache_misses": 3, "wrong_results": 1}, compiled=["pm.sample"]),
    ]
    ((step,),) = walks_of(entries).values()
    assert step.metrics == {"step_time": 1.5, "cache_misses": 3, "wrong_results": 1}
    assert (step.compiled, step.wrong) == (("pm.sample",), True)
