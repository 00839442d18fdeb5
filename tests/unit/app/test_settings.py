"""Settings crossed by pairs; nothing is measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from observatory.app import session as of_session
from observatory.app import settings
from observatory.app.conditions import Condition
from observatory.app.session import Session
from observatory.app.settings import CELLS, DRAWS, SOME, USUAL, crossed, rows_of, status_of
from observatory.benchmarks.catalogue import MEMBERS, Cell
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
FORK = Condition("fork", launches=("fork",))


def test_settings_beside_each_other_have_all_flags_variables_and_the_start_method() -> None:
    both = FLOAT.beside(SEED).beside(FORK)
    assert both.name == "floatX=float32 and PYTHONHASHSEED=0 and fork"
    assert (both.flags, both.variables, both.launches) == (FLOAT.flags, SEED.variables, ("fork",))
    twice = FLOAT.beside(Condition("cxx=", flags="cxx="))
    assert twice.flags == "floatX=float32,cxx="


def test_three_settings_need_four_rows_and_the_first_has_none() -> None:
    rows = rows_of([FLOAT, SEED, FORK])
    assert rows[0].name == ""
    assert len(rows) == 4


def measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, metrics: dict[str, dict[str, float]],
    took: Callable[[str, Path, Task], object] = lambda *_: None, cell: Cell = CELLS[-1],
    own: Callable[[Task], dict[str, float]] = lambda _: {},
    built: Callable[[Task, Sequence[str]], object] = lambda *_: None, graphs: Sequence[str] = (),
) -> list[Row]:  # fmt: skip
    """The rows of two settings, with the counts of one cell under a flag."""

    class Executor:
        def __init__(
            self, _: object, caches: Path, *__: object, flags: str | None = None,
            only: Sequence[str] = (), **___: Any,
        ) -> None:  # fmt: skip
            self.flags, self.caches, self.only = flags or "", caches, only

        def run(self, task: Task) -> Sample:
            took(self.flags, self.caches, task)
            built(task, self.only)
            found = metrics.get(self.flags, {}) if task.cell == cell else {}
            return sample(task.cell, measure="counting", metrics=found | own(task))

    monkeypatch.setenv(LOCK, str(tmp_path))  # whoever measures here meanwhile is not waited for
    session = Session(SEARCH, tmp_path / "results", tmp_path / "state", header().machine)
    monkeypatch.setattr(of_session, "Executor", Executor)
    made = SimpleNamespace(versions=header().versions)
    monkeypatch.setattr(type(session), "environment", lambda *_, **__: made)
    monkeypatch.setattr(settings, "conditions", _two)
    return list(crossed(session.narrowed(graphs), subject("3.3.8")))


def _two(*_: object) -> Any:
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
    where = "radon warm_disk C_VM"
    row = settings._row("cxx=", [(absent, where), (failed(cell, "counting"), where)])
    assert [one.partition(":")[0] for one in row.failures] == [where]


def test_draws_with_other_settings_use_the_cache_that_the_usual_ones_left(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    taken: list[tuple[str, Path, Task]] = []
    measured(monkeypatch, tmp_path, {}, lambda *one: taken.append(one))
    first, *others = [one for one in taken if one[2].cell.scenario == "upgrade"]
    assert (first[0], first[2].cache) == ("", None)
    assert first[2].keep_fresh is not None
    assert len(others) == 6
    there, back = others[::2], others[1::2]
    assert {(place, task.cache) for _, place, task in there} == {(first[1], first[2].keep_fresh)}
    # And the usual settings use the cache that each row left.
    assert {flags for flags, _, _ in back} == {""}
    assert {(place, task.cache) for _, place, task in back} == {
        (place, task.keep_fresh) for _, place, task in there
    }
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


def test_what_is_wrong_only_on_the_way_back_is_told_of_the_row(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The usual settings, with the cache that another setting left: as after one that is undone."""

    def stale(task: Task) -> dict[str, float]:
        return {"stale_results": 1.0} if task.cache == "own" else {}

    rows = measured(monkeypatch, tmp_path, {}, own=stale)
    assert [row.counts for row in rows] == [
        {}, *[{"stale_results of randoms upgrade back": 1.0}] * 3
    ]  # fmt: skip
    assert {status_of(row, rows[0]) for row in rows[1:]} == {Exit.WRONG_RESULTS}


def test_what_a_row_did_not_store_may_be_compiled_on_the_way_back(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A row without a C compiler leaves no C module; making one leaves temporary files."""

    def compiled(task: Task) -> dict[str, float]:
        return {"files_leaked": 10.0} if task.cache == "own" else {}

    usual, *others = measured(monkeypatch, tmp_path, {}, own=compiled)
    assert [row.beyond(usual) for row in others] == [()] * 3


def test_c_vm_builds_a_few_pairs_and_the_way_back_has_a_few_draws(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    taken: list[tuple[Task, Sequence[str]]] = []
    measured(monkeypatch, tmp_path, {}, built=lambda *one: taken.append(one))
    of_c = {only for task, only in taken if task.cell.scenario.startswith("pairs_") and
            task.cell.backend == "C_VM"}  # fmt: skip
    assert of_c == {tuple(sorted(SOME))}
    assert set(SOME) <= set(MEMBERS["keys_quick"])
    back = {only for task, only in taken if task.cache == "own"}
    assert back == {tuple(sorted(DRAWS))}
    assert set(DRAWS) <= set(MEMBERS["randoms"])
    keys = {only for task, only in taken if task.cell.scenario == "pairs_keys"}
    assert keys == {()}


def test_of_few_graphs_no_others_are_built_on_the_way_back(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    taken: list[tuple[Task, tuple[str, ...]]] = []
    few = [DRAWS[0], SOME[0]]
    measured(monkeypatch, tmp_path, {}, graphs=few,
             built=lambda task, only: taken.append((task, tuple(only))))  # fmt: skip
    assert {only for task, only in taken if task.cache == "own"} == {(DRAWS[0],)}
    assert {only for _, only in taken} == {(DRAWS[0],), (SOME[0],), tuple(sorted(few))}
