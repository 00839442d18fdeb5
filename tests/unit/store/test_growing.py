"""What is kept of the sizes of growing graphs, from all passes of a cell."""

from __future__ import annotations

import pytest

from observatory.benchmarks.catalogue import Cell
from observatory.store.reading.growing import growth_of
from observatory.store.records.sample import Build, Size
from tests.factories import entry, sample

CELL = Cell("growth", "growth", "NUMBA", "spawn")
SIZE = Size(family="layers", noun="layers", number=30, limit=60.0)


@pytest.mark.parametrize("first", ["limited", "ok"])
def test_a_size_that_one_pass_could_not_build_was_not_built(first: str) -> None:
    second = "ok" if first == "limited" else "limited"
    entries = [
        entry(sample(CELL, measure, steps=[
            Build(name="layers 30", metrics={metric: 1.0}, status=status, size=SIZE).model_dump()
        ]))
        for measure, metric, status in (
            ("counting", "cache_misses", first), ("timing", "compile_time", second),
        )
    ]  # fmt: skip
    ((build,),) = growth_of(entries).values()
    assert (build.status, set(build.metrics)) == ("limited", {"cache_misses", "compile_time"})
