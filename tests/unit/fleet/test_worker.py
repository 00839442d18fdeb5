"""What a worker does at its place: environments, filled caches, samples that it cannot take."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from distributed import Client

from observatory.benchmarks.catalogue import Cell
from observatory.benchmarks.plan import Task
from observatory.fleet import joining, worker
from observatory.fleet.crew import Crew
from observatory.fleet.orders import MOST_BEGUN, NotTakenError, Order, Place, Recipe, Taken
from observatory.fleet.taking import Samples
from observatory.run.environments import Environment, EnvironmentMakingError
from observatory.run.filled import sweep
from observatory.run.spool import Spool
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
    monkeypatch.setattr(worker, "PLACES", {"here": HERE})
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


class Started:
    """A worker as Dask starts one for us."""

    class state:  # noqa: N801
        nthreads, total_resources = 1, {"bench": 1}


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], Place]:
    """What a worker says that it is, with a directory STATE."""

    def look(state: Path) -> Place:
        monkeypatch.setenv("OBSERVATORY_STATE", str(state))
        return joining.Bench(Path("/state"), "token", "boot", None)._look(Started())  # type: ignore[arg-type]

    return look


def test_a_worker_says_what_doctor_finds_unfit(
    monkeypatch: pytest.MonkeyPatch, looked: Callable[[Path], Place], tmp_path: Path
) -> None:
    monkeypatch.setattr(joining, "unfit", lambda: "there is no C++ compiler")
    assert looked(tmp_path).problem == "there is no C++ compiler"


def test_a_place_is_a_directory_of_a_host_and_not_a_path_or_a_start_of_the_machine(
    monkeypatch: pytest.MonkeyPatch, looked: Callable[[Path], Place], tmp_path: Path
) -> None:
    first = looked(tmp_path / "state").name
    assert looked(tmp_path / "state").name == first
    monkeypatch.setattr(joining, "boot_id", lambda: "started again")
    assert looked(tmp_path / "state").name == first
    shutil.rmtree(tmp_path / "state")  # another container has its own directory of this path
    assert looked(tmp_path / "state").name != first


def order(cache: str | None = None, filled: bool = False) -> Order:
    task = Task(Cell("radon", "warm_disk", "NUMBA", "spawn"), "counting", 0, cache=cache)
    return Order(
        "s", "0001-one", "run", task, RECIPE, "here", "boot", "m", "caches/tmp-compare-1/base", 1.0,
        filled=filled,
    )  # fmt: skip


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Place:
    """A place on another machine than the client's."""
    place = replace(HERE, state=tmp_path, boot="boot")
    monkeypatch.setattr(worker, "PLACES", {"here": place})
    monkeypatch.setattr(worker, "_environments", {f"here {HOME.key}": HOME})
    monkeypatch.setattr(worker, "_kept", {})
    return place


def test_what_the_machine_lacks_is_no_crash_of_the_subject_and_no_lost_connection(
    here: Place,
) -> None:
    with pytest.raises(NotTakenError, match="/client/python") as raised:  # no such interpreter
        worker.take(order())
    assert not isinstance(raised.value, OSError)


def test_a_filled_cache_that_is_gone_is_said_and_not_measured_without(here: Place) -> None:
    with pytest.raises(NotTakenError, match="filled cache made is not there"):
        worker.take(order("made", filled=True))


def test_a_sample_that_ended_its_worker_each_time_is_begun_no_more(here: Place) -> None:
    spool = Spool.of(here.state, "s")
    for _ in range(MOST_BEGUN - 1):
        spool.begin(order().key)
    with pytest.raises(NotTakenError, match="/client/python"):  # it is tried once more
        worker.take(order())
    assert worker.take(order()) == Taken(b"", MOST_BEGUN + 1, recognised=False)


def test_no_command_removes_the_caches_of_a_session_on_a_workers_machine(here: Place) -> None:
    with pytest.raises(NotTakenError):
        worker.take(order())
    caches = here.state / "caches"
    (caches / "tmp-compare-1" / "base" / "made").mkdir()
    sweep(caches)
    assert (caches / "tmp-compare-1" / "base" / "made").is_dir()
    worker.clear("s", "here")
    sweep(caches)
    assert [*caches.iterdir()] == []


def test_a_client_that_leaves_ends_what_runs_in_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = threading.Event()

    class Running:
        cancel = ended.set

    monkeypatch.setattr(worker, "_running", {"s": [Running]})
    monkeypatch.setattr(worker, "_stopped", set())
    with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as one:
        crew = Crew(one, "cpu", print, joining.Bench(Path("/state"), "token", "boot", None))
        placing: Any = None
        Samples(crew, "s", "r", "m", RECIPE, "c", placing, {}, {}).cancel()
        assert ended.wait(60)
    assert worker._stopped == {"s"}
