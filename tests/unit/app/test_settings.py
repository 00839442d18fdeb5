"""Settings crossed by pairs; nothing is measured."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from observatory.app import session as of_session
from observatory.app import settings
from observatory.app.conditions import Condition
from observatory.app.session import Session
from observatory.app.settings import CELLS, USUAL, crossed, rows_of, status_of
from observatory.benchmarks.catalogue import Cell
from observatory.benchmarks.plan import Task
from observatory.errors import Exit
from observatory.run.local import LOCK
from observatory.store.base.problems import RecordError
from observatory.store.journal.models import SEARCH
from observatory.store.records.sample import Sample
from observatory.store.records.settings import Row, load_all
from tests.factories import failed, header, sample, subject

FLOAT = Condition("floatX=float32", flags="floatX=float32")
SEED = Condition("PYTHONHASHSEED=0", {"PYTHONHASHSEED": "0"})
FORK = Condition("fork", launch="fork")


def test_settings_beside_each_other_have_all_flags_variables_and_the_start_method() -> None:
    both = FLOAT.beside(SEED).beside(FORK)
    assert both.name == "floatX=float32 and PYTHONHASHSEED=0 and fork"
    assert (both.flags, both.variables, both.launch) == (FLOAT.flags, SEED.variables, "fork")
    twice = FLOAT.beside(Condition("cxx=", flags="cxx="))
    assert twice.flags == "floatX=float32,cxx="


def test_three_settings_need_four_rows_and_the_first_has_none() -> None:
    rows = rows_of([FLOAT, SEED, FORK])
    assert rows[0].name == ""
    assert len(rows) == 4


def measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, metrics: dict[str, dict[str, float]],
    took: Callable[[str, Path, Task], object] = lambda *_: None, cell: Cell = CELLS[-1],
) -> list[Row]:  # fmt: skip
    """The rows of two settings, with the counts of one cell under a flag."""

    class Executor:
        def __init__(
            self, _: object, caches: Path, *__: object, flags: str | None = None, **___: Any
        ) -> None:
            self.flags, self.caches = flags or "", caches

        def run(self, task: Task) -> Sample:
            took(self.flags, self.caches, task)
            own = metrics.get(self.flags, {}) if task.cell == cell else {}
            return sample(task.cell, measure="counting", metrics=own)

    monkeypatch.setenv(LOCK, str(tmp_path))  # whoever measures here meanwhile is not waited for
    session = Session(SEARCH, tmp_path / "results", tmp_path / "state", header().machine)
    monkeypatch.setattr(of_session, "Executor", Executor)
    made = SimpleNamespace(versions=header().versions)
    monkeypatch.setattr(type(session), "environment", lambda *_, **__: made)
    monkeypatch.setattr(settings, "conditions", _two)
    return list(crossed(session, subject("3.3.8")))


def _two(_: object) -> Any:
    from contextlib import nullcontext

    return nullcontext([FLOAT, SEED])


def test_what_is_worse_than_as_usual_is_told_with_its_setting(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    usual, *others = measured(
        monkeypatch,
        tmp_path,
        {"": {"cache_misses": 0}, "floatX=float32": {"cache_misses": 3, "wrong_results": 0}},
    )
    assert (usual.name, usual.counts) == (USUAL, {})
    told = {row.name: row.beyond(usual) for row in others}
    assert told["floatX=float32"] == ("3 cache_misses of radon warm_disk",)
    assert told["PYTHONHASHSEED=0"] == ()
    assert {status_of(row, usual) for row in others} == {Exit.OK, Exit.WORSE}


@pytest.mark.parametrize(
    ("place", "metric", "code"),
    [
        (0, "key_collisions", Exit.WRONG_RESULTS),
        (1, "wrong_results", Exit.WRONG_RESULTS),
        (1, "collided_symbols", Exit.WORSE),
        (2, "stale_results", Exit.WRONG_RESULTS),
    ],
)
def test_keys_siblings_and_an_upgrade_are_crossed_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, place: int, metric: str, code: Exit
) -> None:
    counts = {"floatX=float32": {metric: 1.0}}
    usual, *others = measured(monkeypatch, tmp_path, counts, cell=CELLS[place])
    told = {row.name: row.beyond(usual) for row in others}
    where = f"{CELLS[place].model} {CELLS[place].scenario}"
    assert told["floatX=float32"] == (f"1 {metric} of {where}",)
    assert {status_of(row, usual) for row in others} == {Exit.OK, code}


def test_what_is_usual_of_other_counts_is_worse_only_where_there_is_more(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As of files that are left behind, or of functions that only `python -O` has refused."""
    as_usual = {"files_leaked": 8.0, "uncacheable": 0.0}
    other = {"files_leaked": 8.0, "uncacheable": 47.0}
    usual, *others = measured(monkeypatch, tmp_path, {"": as_usual, "floatX=float32": other})
    assert (usual.beyond(None), status_of(usual, None)) == ((), Exit.OK)
    told = {row.name: row.beyond(usual) for row in others}
    assert told["floatX=float32"] == ("47 uncacheable of radon warm_disk",)
    assert {status_of(row, usual) for row in others} == {Exit.OK, Exit.WORSE}


def test_what_a_setting_takes_away_is_no_failure() -> None:
    """Without a compiler there is no C_VM."""
    cell = Cell("radon", "warm_disk", "C_VM", "spawn")
    absent = sample(cell, "counting", status="unavailable", metrics={})
    row = settings._row("cxx=", [absent, failed(cell, "counting")])
    assert [one.partition(":")[0] for one in row.failures] == ["radon warm_disk C_VM"]


def test_draws_with_other_settings_use_the_cache_that_the_usual_ones_left(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    taken: list[tuple[str, Path, Task]] = []
    measured(monkeypatch, tmp_path, {}, lambda *one: taken.append(one))
    first, *others = [one for one in taken if one[2].cell.scenario == "upgrade"]
    assert (first[0], first[2].cache) == ("", None)
    assert first[2].keep_fresh is not None
    assert len(others) == 3
    assert {(place, task.cache) for _, place, task in others} == {(first[1], first[2].keep_fresh)}
    fillers = {place for _, place, task in taken if task.cell.scenario == "cold"}
    assert len(fillers) == 4  # other caches are of one row alone


def test_what_is_wrong_as_usual_is_not_told_of_a_setting(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wrong = {"wrong_results": 1.0}
    usual, *others = measured(monkeypatch, tmp_path, {"": wrong, "floatX=float32": wrong})
    assert status_of(usual, None) == Exit.WRONG_RESULTS
    assert [row.beyond(usual) for row in others] == [()] * len(others)


def test_what_came_out_of_all_rows_is_recorded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rows = measured(monkeypatch, tmp_path, {"floatX=float32": {"cache_misses": 3}})
    (record,) = load_all(tmp_path / "results")
    assert not isinstance(record, RecordError)
    assert (record.subject.label, record.rows) == ("3.3.8", rows)
    told = dict(record.worse)
    assert told.pop("floatX=float32") == ("3 cache_misses of radon warm_disk",)
    assert "PYTHONHASHSEED=0" not in told
