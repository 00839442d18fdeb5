from __future__ import annotations

from pathlib import Path

from benchmarks.catalogue import Cell
from benchmarks.plan import Task
from observatory.guard.symbols import added, wanted
from tests import factories
from tests.factories_scan import mangled, object_of, put

FORK = Cell("lookalikes", "siblings_nested", "NUMBA", "fork")


def test_symbols_are_read_where_several_processes_fill_a_cache_of_numbas() -> None:
    assert wanted(Task(FORK, "counting", 0))
    assert not wanted(Task(FORK, "timing", 0))
    assert not wanted(Task(Cell("lookalikes", "siblings", "C", "fork"), "counting", 0))
    assert not wanted(Task(factories.WARM, "counting", 0))


def test_what_a_scan_counts_becomes_metrics_of_the_sample(tmp_path: Path) -> None:
    symbol = mangled("pytensor.numba_funcified_fgraph", 17)
    for name, body in (("one", "x + 1"), ("two", "x + 2")):
        put(tmp_path, name, object_of({symbol: body}))
    sample = factories.sample(FORK, "counting", absent={"collided_symbols": "not yet"})
    found = added(sample, tmp_path)
    assert found.metrics["collided_symbols"] == 1
    assert found.absent == {}


def test_a_cache_that_is_not_there_or_cannot_be_read_gives_no_number(tmp_path: Path) -> None:
    sample = factories.sample(FORK, "counting")
    assert added(sample, tmp_path / "absent") == sample
    assert "no cache of numba's" in added(sample, tmp_path).absent["collided_symbols"]
    (data,) = put(tmp_path, "one", object_of({mangled("f", 17): "x + 1"}))
    data.write_bytes(b"not a pickle")
    broken = added(sample, tmp_path)
    assert "collided_symbols" not in broken.metrics
    assert "cannot be read" in broken.absent["collided_symbols"]
