"""A worker looks at its environment when a session begins, and not before each sample."""

from __future__ import annotations

from pathlib import Path

import pytest

from observatory.fleet import worker
from observatory.fleet.orders import Place, Recipe
from observatory.run.environments import Environment, EnvironmentMakingError
from tests.factories import header

HERE = Place("here", "one", "boot", False, Path("/state"), header().machine)
HOME = Environment(Path("/client/python"), header().versions, "key", Path("/client"))
RECIPE = Recipe(header().subject, (), {}, HOME)


def test_an_environment_is_looked_at_once_a_session(monkeypatch: pytest.MonkeyPatch) -> None:
    there = Environment(Path("/state/python"), header().versions, "other", Path("/state"))
    looked: list[Recipe] = []

    def made(recipe: Recipe, state: Path) -> Environment:
        looked.append(recipe)
        if len(looked) > 2:
            raise EnvironmentMakingError("numpy is another")
        return there

    monkeypatch.setattr(worker.making, "made", made)
    monkeypatch.setattr(worker, "_places", {"here": HERE})
    monkeypatch.setattr(worker, "_environments", {})
    worker.make(RECIPE, "here")
    assert [worker._environment(RECIPE, HERE) for _ in range(2)] == [there, there]
    assert len(looked) == 1
    worker.make(RECIPE, "here")
    assert len(looked) == 2
    with pytest.raises(EnvironmentMakingError):
        worker.make(RECIPE, "here")
    with pytest.raises(EnvironmentMakingError):  # and no sample is taken in it
        worker._environment(RECIPE, HERE)


def test_on_the_clients_machine_its_own_environment_is_used() -> None:
    at_home = Place("home", "one", "boot", True, Path("/state"), header().machine)
    assert worker._environment(RECIPE, at_home) is HOME


def test_a_worker_says_what_doctor_finds_unfit(monkeypatch: pytest.MonkeyPatch) -> None:
    class State:
        nthreads, total_resources = 1, {"bench": 1}

    class Worker:
        state = State()

    monkeypatch.setattr(worker, "unfit", lambda: "there is no C++ compiler")
    monkeypatch.setattr(worker, "hidden_from_git", lambda state: state)
    bench = worker.Bench(Path("/state"), "token", "boot", None)
    assert bench._look(Worker()).problem == "there is no C++ compiler"  # type: ignore[arg-type]
