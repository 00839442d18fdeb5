"""What a worker does at its place: environments, filled caches, samples that it cannot take."""

from __future__ import annotations

import fcntl
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from distributed import Client

from observatory.benchmarks.catalogue import Cell, Measure
from observatory.benchmarks.plan import Task
from observatory.fleet import joining, worker
from observatory.fleet.crew import Crew
from observatory.fleet.orders import MOST_BEGUN, NotTakenError, Order, Place, Recipe, Taken
from observatory.fleet.taking import Samples
from observatory.run.cpus import Claim
from observatory.run.environments import Environment, EnvironmentMakingError
from observatory.run.execute import Cancelled
from observatory.run.filled import sweep
from observatory.run.spool import Spool, Spooled
from observatory.store.base.strict_json import read_json
from tests.factories import RUN, header, sample

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


@pytest.mark.parametrize(
    ("boot", "token", "own", "home"),
    [
        ("boot", "", False, True),
        ("another boot", "", False, False),
        ("boot", "of another directory", False, False),
        ("boot", "", True, False),  # it was started with a directory of its own
    ],
)
def test_a_worker_is_at_home_only_in_the_directory_of_the_client(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, boot: str, token: str, own: bool, home: bool
) -> None:
    """There it uses the environments and caches of the client, and the client's locks."""
    state = tmp_path / "client"
    joining.give_token(state)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(joining, "boot_id", lambda: boot)
    monkeypatch.delenv("OBSERVATORY_STATE", raising=False)
    if own:
        monkeypatch.setenv("OBSERVATORY_STATE", str(tmp_path / "own"))
    bench = joining.Bench(state, token or joining.token_of(state), "boot", None)
    place = bench._look(Started())  # type: ignore[arg-type]
    assert (place.home, place.state == state) == (home, home)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_worker_that_may_not_measure_claims_no_cpu(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, threads: int
) -> None:
    """Another one could not have it."""

    class Worker:
        class state:  # noqa: N801
            nthreads, total_resources = threads, {"bench": 1}

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(joining, "_claimed", lambda _: Claim((1,)))
    bench = joining.Bench(Path("/state"), "token", "boot", 1)
    place = bench._look(Worker())  # type: ignore[arg-type]
    assert place.cpus == ((1,) if threads == 1 else ())
    assert ("--nthreads 1" in place.problem) == (threads == 2)


def test_what_dask_sets_for_its_workers_does_not_reach_what_is_measured(
    monkeypatch: pytest.MonkeyPatch, looked: Callable[[Path], Place], tmp_path: Path
) -> None:
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")
    looked(tmp_path)
    assert "MALLOC_TRIM_THRESHOLD_" not in worker.os.environ


def order(cache: str | None = None, filled: bool = False) -> Order:
    task = Task(Cell("radon", "warm_disk", "NUMBA", "spawn"), "counting", 0, cache=cache)
    return Order(
        "s", "0001-one", RUN, task, RECIPE, "here", "boot", "m", "caches/tmp-compare-1/base", 1.0,
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


def test_a_session_that_was_stopped_begins_no_sample_that_was_handed_in_before(
    here: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After Ctrl-C; it would be measured for minutes, and nobody would wait for it."""
    monkeypatch.setattr(worker, "_stopped", {"s"})
    with pytest.raises(Cancelled):
        worker.take(order())
    with pytest.raises(NotTakenError, match="/client/python"):  # it is another session
        worker.take(replace(order(), session="other"))


def test_on_the_clients_machine_the_client_alone_holds_and_removes_filled_caches(
    here: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It holds their locks alone: a worker that wanted them too would wait for ever."""
    monkeypatch.setattr(worker, "PLACES", {"here": replace(here, home=True)})
    with pytest.raises(NotTakenError):
        worker.take(order())
    assert worker._kept == {}
    worker.clear("", "here", order().caches)
    assert (here.state / order().caches).is_dir()


def test_filled_caches_on_another_machine_go_when_the_client_says_so(here: Place) -> None:
    with pytest.raises(NotTakenError):
        worker.take(order())
    worker.clear("", "here", order().caches)
    assert not (here.state / order().caches).exists()


@dataclass
class Circumstances:
    """Under which locks and on which CPUs samples were taken."""

    locks: list[tuple[str, bool]] = field(default_factory=list)
    """The name of each, and whether it was held alone."""
    cpus: list[tuple[int, ...]] = field(default_factory=list)


@pytest.fixture
def taken_under(here: Place, monkeypatch: pytest.MonkeyPatch) -> Circumstances:
    """Let every sample end well, on a worker that owns CPU 1."""
    found = Circumstances()

    @contextmanager
    def held(path: Path, alone: bool, limit: float) -> Iterator[None]:
        found.locks.append((path.name, alone))
        yield

    monkeypatch.setattr(worker, "PLACES", {"here": replace(here, cpus=(1,))})
    monkeypatch.setattr(worker, "_held", held)
    monkeypatch.setattr(worker, "machine_lock", lambda: Path("/run/machine.lock"))
    monkeypatch.setattr(worker.os, "sched_setaffinity", lambda _, cpus: found.cpus.append(cpus))
    monkeypatch.setattr(
        worker, "_execute", lambda order, *_: sample(order.task.cell, order.task.measure)
    )
    return found


@pytest.mark.parametrize(("measure", "alone"), [("timing", True), ("counting", False)])
@pytest.mark.parametrize("at_home", [True, False])
def test_a_time_is_taken_alone_on_its_machine_and_with_all_cpus_of_the_place(
    taken_under: Circumstances, measure: Measure, alone: bool, at_home: bool
) -> None:
    """On the client's machine the client itself holds the lock of the machine."""
    task = replace(order().task, measure=measure)
    boot = "boot" if at_home else "the client's"
    worker.take(replace(order(), task=task, cpus=(0, 1), boot=boot))
    of_machine = [] if at_home else [("machine.lock", alone)]
    assert taken_under.locks == [("0001-one.begun", True), ("busy.lock", alone), *of_machine]
    assert taken_under.cpus == [(0, 1) if alone else (1,)]


@pytest.mark.parametrize("alone", [True, False])
def test_counts_are_taken_together_and_nothing_beside_what_is_taken_alone(
    tmp_path: Path, alone: bool
) -> None:
    path = tmp_path / "busy.lock"
    with worker._held(path, alone, 1.0), path.open() as other:
        for mode, refused in ((fcntl.LOCK_SH, alone), (fcntl.LOCK_EX, True)):
            with pytest.raises(BlockingIOError) if refused else nullcontext():
                fcntl.flock(other, mode | fcntl.LOCK_NB)


def test_a_record_has_the_name_of_the_machine_in_the_results_and_the_cpu_of_the_worker(
    taken_under: Circumstances,
) -> None:
    record = read_json(Spooled, worker.take(order()).record)
    assert record.header.machine == HERE.machine.model_copy(update={"machine": "m"})
    assert HERE.machine.machine != "m"


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
