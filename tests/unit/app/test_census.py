"""Single graphs of the census: which are meant, which tasks build them, and how it ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from observatory.app import census as module
from observatory.app.census import census, graphs_like
from observatory.app.session import Session
from observatory.benchmarks.catalogue import MEMBERS, Cell
from observatory.benchmarks.plan import Task
from observatory.errors import Exit, SelectionError
from observatory.store.reading.fates import Fate
from observatory.store.records.machine import this_machine
from observatory.store.records.sample import Build, Sample
from tests import factories

PAIR = "differ.size.dirichlet"


def test_a_pattern_means_graphs_of_every_model() -> None:
    found = graphs_like(["differ.size.*", "elementwise.add"])
    assert found[PAIR] == "keys"
    assert found["elementwise.add"] == "ops"
    assert set(found) == {
        "elementwise.add", *(name for name in MEMBERS["keys"] if name.startswith("differ.size."))
    }  # fmt: skip


def test_a_pattern_without_a_graph_is_refused_by_name() -> None:
    with pytest.raises(SelectionError, match=r"there is no graph 'diferent\.\*'"):
        graphs_like([PAIR, "diferent.*"])


def test_a_backend_without_a_census_is_refused_also_beside_one_that_has_it(tmp_path: Path) -> None:
    session = Session("census", tmp_path / "results", tmp_path / "state", this_machine(None))
    chosen = census(session, [factories.header().subject], {PAIR: "keys"}, ["NUMBA", "C"])
    with pytest.raises(SelectionError, match="in the census there is no backend 'C'; choose"):
        next(chosen)


class Recorded:
    """Stands for the executor: it notes its tasks, and its graphs have the given status."""

    tasks: list[Task]
    given: dict[str, object]
    status = "ok"
    fate = "ok"

    def __init__(self, *_: object, **given: object) -> None:
        type(self).given = given
        type(self).tasks = []

    def run(self, task: Task) -> Sample:
        self.tasks.append(task)
        step = Build(name=PAIR, metrics={}, status=self.fate, note="another value")
        return factories.sample(task.cell, "counting", status=self.status, steps=[step])


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> type[Recorded]:
    class Own(Recorded):
        pass

    monkeypatch.setattr(module, "Executor", Own)
    monkeypatch.setattr(Session, "environment", lambda *_: None)
    return Own


def run(tmp_path: Path) -> list[module.Census]:
    session = Session("census", tmp_path / "results", tmp_path / "state", this_machine(None))
    return list(census(session, [factories.header().subject], {PAIR: "keys"}, ["NUMBA"]))


def test_the_second_graph_starts_from_the_cache_of_the_first(
    tmp_path: Path, recorded: type[Recorded]
) -> None:
    (found,) = run(tmp_path)
    first, second = recorded.tasks
    assert first.cell == Cell("keys", "pairs_first", "NUMBA", "spawn")
    assert second.cell == Cell("keys", "pairs_second", "NUMBA", "spawn")
    assert first.keep
    assert second.cache == first.keep
    assert recorded.given["only"] == (PAIR,)
    assert found.fates == {PAIR: Fate(PAIR, "right")}
    assert found.exit_code == Exit.OK
    assert not (tmp_path / "results").exists()
    assert not any((tmp_path / "state" / "caches").iterdir())


def test_a_collision_ends_with_the_status_of_wrong_numbers(
    tmp_path: Path, recorded: type[Recorded]
) -> None:
    recorded.fate = "collided"
    (found,) = run(tmp_path)
    assert found.fates[PAIR] == Fate(PAIR, "collided", "another value")
    assert found.exit_code == Exit.WRONG_RESULTS


def test_a_sample_that_fails_is_told_and_is_not_success(
    tmp_path: Path, recorded: type[Recorded]
) -> None:
    recorded.status = "timeout"
    (found,) = run(tmp_path)
    assert found.exit_code == Exit.SAMPLE_FAILED
    assert [one.split(":")[0] for one in found.failures] == [
        "keys pairs_first NUMBA spawn", "keys pairs_second NUMBA spawn"
    ]  # fmt: skip
