"""Which workers may measure, and what each place is worth; the cluster is a fake."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from distributed import KilledWorker

from observatory.benchmarks.catalogue import Cell
from observatory.benchmarks.plan import Task
from observatory.fleet import cluster, fetching, joining
from observatory.fleet import worker as remote
from observatory.fleet.cluster import DaskFleet
from observatory.fleet.crew import Crew, Site, apart
from observatory.fleet.orders import NotTakenError, Order, Place, Taken
from observatory.fleet.taking import Samples
from observatory.run.environments import EnvironmentMakingError
from observatory.run.fleets import FleetError
from observatory.run.placing import Placing
from observatory.run.spool import Spooled
from observatory.store.journal.models import new_run
from observatory.store.records.sample import Sample
from tests.factories import failed, header, sample

MACHINE = header().machine
HERE = Place("here", "one", "boot", True, Path("/state"), MACHINE)
THERE = replace(HERE, name="there", host="two", machine=MACHINE.model_copy(update={"cpu": "Else"}))

CELL = Cell("radon", "cold", "NUMBA", "spawn")


class Client:
    """A cluster of workers that tell what a test says."""

    def __init__(self, places: dict[str, Place]) -> None:
        self.places, self.dead, self.scheduler = places, False, self
        self.let = list[tuple[str, int, list[str]]]()
        """Which workers may take how many samples of a place, as they are told."""

    def identity(self, n_workers: int) -> dict[str, Any]:
        if self.dead:
            raise OSError("refused")
        return {"workers": dict.fromkeys(self.places)}

    def sync(self, function: Callable[..., Any], **given: Any) -> Any:
        return function(**given)

    def scheduler_info(self, n_workers: int) -> dict[str, Any]:
        """As if the look that a client of Dask takes by itself had come in between."""
        return {"workers": {}}

    def run(
        self, function: Callable[..., Any], *args: Any, workers: list[str], **_: Any
    ) -> dict[str, Place]:
        if self.dead:
            raise OSError("refused")
        if function is joining.let:
            self.let.append((*args, workers))
        return {one: self.places[one] for one in workers}


@pytest.fixture
def said() -> list[str]:
    return []


def crew(said: list[str], own: str = "Some CPU", **places: Place) -> Crew:
    class Plugin:
        name = "observatory"

    made = Crew(Client(places), own, said.append, Plugin())  # type: ignore[arg-type]
    made.refresh(now=True)
    made.settle()
    return made


def test_a_worker_that_may_not_measure_is_left_out_once_and_asked_again(said: list[str]) -> None:
    one = crew(said, a=replace(HERE, cpus=(0,)), b=replace(HERE, problem="it is not fit"))
    assert one.number == 1
    assert said == ["the worker b on one is left out: it is not fit"]
    one.client.places["b"] = replace(HERE, cpus=(1,))
    one._looked = 0.0
    one.refresh()
    assert (one.number, one.sites["here"].cpus, len(said)) == (2, (0, 1), 1)


def test_times_come_from_the_clients_cpu_and_else_from_that_of_most_workers(
    said: list[str],
) -> None:
    assert crew(said, a=HERE, b=THERE, c=THERE).of_class() == ["here"]
    assert crew(said, "Third", a=HERE, b=THERE, c=THERE).of_class() == ["there"]
    fleet = DaskFleet(crew(said, "Third", a=HERE, b=THERE, c=THERE), Path("/state"))
    assert fleet.machine(MACHINE).cpu == "Else"
    assert (fleet.workers, fleet.timed_at_once) == (3, 1)


def test_times_come_from_one_class_to_the_end_whoever_comes_and_goes(said: list[str]) -> None:
    """Their journals name the CPU that the command began with."""
    one = crew(said, "Third", a=HERE, b=THERE, c=THERE)
    del one.client.places["b"], one.client.places["c"]
    one.refresh(now=True)
    assert one.of_class() == ["there"]
    one.client.places["d"] = replace(THERE, name="anew")
    one.refresh(now=True)
    assert one.of_class() == ["there", "anew"]


def test_work_is_counted_if_one_place_can(said: list[str]) -> None:
    without = replace(THERE, uncounted="there is no valgrind")
    fleet = DaskFleet(crew(said, a=replace(HERE, counted_with="callgrind"), b=without),
                      Path("/state"))  # fmt: skip
    assert (fleet.uncounted(), fleet.counted_with()) == ("", "callgrind")
    assert fleet.placing().uncounted == {"there": "there is no valgrind"}
    alone = DaskFleet(crew(said, b=without), Path("/state"))
    assert (alone.uncounted(), alone.counted_with()) == ("there is no valgrind", "")


def test_what_counts_is_that_of_a_place_that_can(said: list[str]) -> None:
    cannot = replace(HERE, uncounted="there is no valgrind")
    can = replace(HERE, name="there", counted_with="callgrind")
    assert DaskFleet(crew(said, a=cannot, b=can), Path("/state")).counted_with() == "callgrind"


def test_one_worker_on_the_clients_machine_is_enough_to_hold_its_lock(
    said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else another command here would measure beside it."""
    away = replace(HERE, name="there", host="two", boot="2", home=False)
    monkeypatch.setattr(joining, "boot_id", lambda: "boot")
    monkeypatch.setattr(cluster, "measuring_lock", lambda say: nullcontext("held"))
    for places, held in (({"a": HERE, "b": away}, "held"), ({"b": away}, None)):
        with DaskFleet(crew(said, **places), Path("/state")).lock(said.append) as turn:
            assert turn == held


def test_samples_on_machines_that_take_no_part_are_left_for_a_later_run(
    said: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The only note of where they are stays, though what is here is merged."""
    forgotten, checked = list[Any](), list[Any]()
    owner = SimpleNamespace(elsewhere=["here", "gone"], results=Path("/results"), given_up=[])
    monkeypatch.setattr(fetching.spool, "left_behind", lambda _: [("session", owner)])
    monkeypatch.setattr(fetching.spool, "check", checked.append)
    monkeypatch.setattr(fetching.spool, "forget", lambda *what: forgotten.append(what))
    fetching.fetch_left(crew(said, a=HERE), tmp_path)
    assert (checked, forgotten) == ([owner], [])
    (line,) = said
    assert line.startswith("samples of an interrupted run for /results may lie on machines that")
    owner.elsewhere = ["here"]
    fetching.fetch_left(crew(said, a=HERE), tmp_path)
    assert forgotten == [(tmp_path, "session")]


@pytest.mark.parametrize("wrong", ["", "a record is torn", "no worker of two answers"])
def test_what_nobody_has_accepted_is_fetched_and_only_then_removed_from_its_machine(
    said: list[str], monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    """One that was dropped with its pair is accepted: it must not be recorded after all."""
    merged, cleared = list[bytes](), list[tuple[object, ...]]()

    def ask(_: Crew, name: str, function: Callable[..., Any], *args: object) -> Any:
        if function is remote.clear:
            cleared.append(args)
        elif wrong.startswith("no worker"):
            raise FleetError(wrong)
        return {"0001-left": b"left", "0002-dropped": b"dropped"}

    def merge(left: list[bytes], _: Path) -> tuple[int, list[str]]:
        merged.extend(left)
        return len(left), [wrong] if wrong else []

    monkeypatch.setattr(Crew, "ask", ask)
    monkeypatch.setattr(fetching.spool, "merge", merge)
    away = replace(HERE, name="there", host="two", home=False)
    complete = fetching.fetch(
        crew(said, a=away), Path("/state"), "s", Path("/results"), {"0002-dropped"}
    )
    assert complete == (not wrong)
    assert merged == ([] if wrong.startswith("no worker") else [b"left"])
    assert cleared == ([] if wrong else [("s", "there", "")])
    assert wrong in "\n".join(said)


def test_a_place_whose_workers_were_all_replaced_is_a_new_generation(said: list[str]) -> None:
    one = crew(said, a=HERE, b=HERE)
    site, places = one.sites["here"], one.client.places
    assert site.generation == 1
    del places["a"]
    one.refresh(now=True)
    places["c"] = HERE
    one.refresh(now=True)
    assert site.generation == 1  # b was there all the time
    places.clear()
    places["d"] = HERE
    one.refresh(now=True)
    assert site.generation == 2


def test_what_the_client_lists_by_itself_does_not_make_workers_leave(said: list[str]) -> None:
    one = crew(said, a=HERE)
    one._looked = 0.0
    one.refresh()
    assert (one.number, one.sites["here"].generation) == (1, 1)


def test_a_connection_that_is_made_anew_changes_no_worker(said: list[str]) -> None:
    one = crew(said, a=HERE)
    one.client.dead, one._looked = True, 0.0
    one.refresh()
    assert (one.number, one.sites["here"].generation) == (1, 1)


def test_a_scheduler_that_does_not_answer_is_said_in_a_sentence(said: list[str]) -> None:
    one = crew(said, a=HERE)
    one.client.dead = True
    with pytest.raises(FleetError, match="`observatory run` continues with --resume"):
        one.refresh(now=True)


def test_a_worker_that_does_not_answer_is_passed_over(
    said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = crew(said, a=HERE, b=HERE)
    answers: dict[str, Any] = {"a": OSError("gone"), "b": ("3.13",)}

    def run(function: Callable[..., Any], *, workers: list[str], on_error: str) -> dict[str, Any]:
        return {worker: answers[worker] for worker in workers}

    monkeypatch.setattr(one.client, "run", run)
    assert one.ask("here", remote.pythons) == ("3.13",)
    answers["b"] = EnvironmentMakingError("the wheel is torn")
    with pytest.raises(EnvironmentMakingError, match="the wheel is torn"):
        one.ask("here", remote.pythons)  # an answer like any other, and no value
    answers["b"] = OSError("gone")
    with pytest.raises(FleetError, match="no worker of one answers"):
        one.ask("here", remote.pythons)


def test_a_time_waits_until_its_machine_does_nothing_else(said: list[str]) -> None:
    one = crew(said, a=HERE, b=HERE)
    taking = Samples(one, "s", "r", "m", None, "c", Placing({}, ()), {}, {})  # type: ignore[arg-type]
    site: Site = one.sites["here"]
    with taking._handing.slot("here", alone=False), taking._handing.slot("here", alone=False):
        assert (site.running, site.alone) == (2, False)
    with taking._handing.slot("here", alone=True):
        assert (site.running, site.alone) == (1, True)
    assert (site.running, site.alone) == (0, False)


def test_a_worker_that_is_away_for_a_moment_is_waited_for_however_long_it_was_busy(
    said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = crew(said, a=HERE)
    taking = Samples(one, "s", "r", "m", None, "c", Placing({}, ()), {}, {})  # type: ignore[arg-type]
    site, now = one.sites["here"], [0.0]
    monkeypatch.setattr("observatory.fleet.handing.time.monotonic", lambda: now[0])

    def steps() -> Iterator[None]:
        now[0] += 2 * one.patience  # a long sample runs
        yield
        del one.client.places["a"]  # its worker restarts
        one.refresh(now=True)
        now[0] += 1.0
        yield
        one.client.places["b"] = HERE
        one.refresh(now=True)
        site.running = 0
        yield

    passing = steps()
    monkeypatch.setattr(one.changed, "wait", lambda _: next(passing))
    site.running = len(site.addresses)
    with taking._handing.slot("here", alone=False):
        assert next(passing, "over") == "over"


@dataclass
class Loop:
    """The event loop of a client, in which time passes if a test says so."""

    released: list[Future[Any]] = field(default_factory=list)
    _later: list[Callable[[], None]] = field(default_factory=list)

    def add_callback(self, function: Callable[..., None], *args: Any) -> None:
        function(*args)

    def call_later(self, _: float, function: Callable[[], None]) -> None:
        self._later.append(function)

    def pass_time(self) -> None:
        for function in self._later:
            function()


class Worker(Client):
    """A cluster whose tasks end at once, as ``answers`` says for each place."""

    answers: dict[str, Any]
    loop: Loop

    def submit(self, function: Callable[..., Any], *args: Any, **_: Any) -> Future[Any]:
        done: Future[Any] = Future()
        found = self.answers[args[-2] if function is remote.watch else args[0].place]
        done.set_exception(found) if isinstance(found, Exception) else done.set_result(found)
        done.release = lambda: self.loop.released.append(done)  # type: ignore[attr-defined]
        return done


@pytest.fixture
def answered(said: list[str]) -> Crew:
    """Two machines of one class, each with a worker."""
    made = crew(said, a=HERE, b=replace(HERE, name="there", host="two", home=False))
    made.client.__class__ = Worker
    made.client.loop = Loop()
    return made


def test_a_machine_that_is_slower_takes_counts_and_no_times(
    answered: Crew, said: list[str]
) -> None:
    answered.client.answers = {"here": "", "there": "it is slower"}
    fleet = DaskFleet(answered, Path("/state"))
    assert fleet.placing().untimed == {"there": "it is slower"}
    assert fleet.untimed() == ""
    assert said == ["two takes no times, only counts: it is slower"]
    answered.client.answers = {"here": OSError("torn"), "there": "it is slower"}
    assert DaskFleet(answered, Path("/state")).untimed() == (
        "one: the sentinel could not look at it: torn; two: it is slower"
    )


def test_subjects_that_are_measured_at_once_go_to_different_machines(answered: Crew) -> None:
    answered.client.answers = {"here": "", "there": ""}
    fleet = DaskFleet(answered, Path("/state"))
    task = Task(CELL, "counting", 0)
    assert {fleet.placing().place_of(task) for _ in range(2)} == {"here", "there"}


def test_this_machine_alone_is_not_looked_at(said: list[str]) -> None:
    assert DaskFleet(crew(said, a=HERE, b=HERE), Path("/state")).placing().untimed == {}


@pytest.mark.parametrize("refusal", [EnvironmentMakingError, NotTakenError])
def test_a_task_that_a_machine_refuses_goes_elsewhere_and_one_that_all_refuse_ends(
    answered: Crew, said: list[str], refusal: type[Exception]
) -> None:
    taken = Taken(spooled(), 1, recognised=False)
    differs = refusal("numpy 2.4, not 2.3")
    answered.client.answers = {"here": differs, "there": taken}
    fleet = DaskFleet(answered, Path("/state"))
    fleet._untimed = {}
    placing = fleet.placing()
    taking = Samples(answered, "s", "r", "m", None, "c", placing, {"timeout": 1.0}, {})  # type: ignore[arg-type]
    cold = Task(CELL, "counting", 0)
    assert [str(taking.run(cold).cell) for _ in range(2)] == [str(CELL)] * 2
    assert said == ["one takes no further sample: numpy 2.4, not 2.3"]
    assert fleet.report() == "taken elsewhere, because a machine refused it: 1 sample"
    timed = Task(CELL, "timing", 0)
    answered.client.answers["there"] = differs
    with pytest.raises(FleetError, match=r"two refuses the sample .numpy 2.4, not 2.3.; .* start"):
        taking.run(timed)
    with pytest.raises(FleetError, match=r"on one numpy 2.4, not 2.3; on two numpy 2.4, not 2.3"):
        taking.run(cold)


def test_the_next_order_need_not_wait_until_a_task_is_forgotten(answered: Crew) -> None:
    answered.client.answers = {"here": Taken(spooled(), 1, recognised=False)}
    placing = DaskFleet(answered, Path("/state"), {}).placing()
    placing.leave("there", "")
    taking = Samples(answered, "s", "r", "m", None, "c", placing, {"timeout": 1.0}, {})  # type: ignore[arg-type]
    for _ in range(2):
        taking.run(Task(CELL, "counting", 0))
    assert answered.client.loop.released == []
    answered.client.loop.pass_time()
    assert len(answered.client.loop.released) == 2


class _NeverFetched(Future[Any]):
    """Of a task that has ended, on a worker that ended before its record was fetched."""

    def add_done_callback(self, fn: Callable[..., object]) -> None:
        fn(self)

    def result(self, timeout: float | None = None) -> Any:
        assert timeout is not None, "Dask may wait for it for ever"
        raise TimeoutError


def test_a_record_that_cannot_be_fetched_is_asked_for_again(
    answered: Crew, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered.client.answers = {"here": Taken(spooled(), 2, recognised=True), "there": ""}
    fleet, submit, keys = DaskFleet(answered, Path("/state"), {}), Worker.submit, []

    def first_lost(self: Worker, *args: Any, key: str, **more: Any) -> Future[Any]:
        keys.append(key)
        done = submit(self, *args, **more)
        if len(keys) == 1:
            done.__class__ = _NeverFetched
        return done

    placing = fleet.placing()
    monkeypatch.setattr(Worker, "submit", first_lost)
    taking = Samples(answered, "s", "r", "m", None, "c", placing, {"timeout": 1.0}, {})  # type: ignore[arg-type]
    assert str(taking.run(Task(CELL, "counting", 0)).cell) == str(CELL)
    assert [key[-2:] for key in keys] == ["-0", "-1"]
    assert "1 sample handed in again" in fleet.report()


def test_dask_is_not_believed_that_a_sample_killed_workers_which_may_never_have_begun_it(
    answered: Crew, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The workers of a machine that is lost leave one after the other; Dask passes it on."""
    answered.client.answers = {"here": Taken(spooled(), 1, recognised=False)}
    submit, keys = Worker.submit, list[str]()

    def first_killed(self: Worker, *args: Any, key: str, **more: Any) -> Future[Any]:
        keys.append(key)
        done = submit(self, *args, **more)
        if len(keys) == 1:
            done._exception = KilledWorker(key, SimpleNamespace(address="tcp://gone"), 2)
        return done

    fleet = DaskFleet(answered, Path("/state"), {})
    placing = fleet.placing()
    placing.leave("there", "")
    monkeypatch.setattr(Worker, "submit", first_killed)
    taking = Samples(answered, "s", "r", "m", None, "c", placing, {"timeout": 1.0}, {})  # type: ignore[arg-type]
    assert taking.run(Task(CELL, "counting", 0)).status == "ok"
    assert [key[-2:] for key in keys] == ["-0", "-1"]


def spooled(taken: Sample | None = None) -> bytes:
    """A sample as a worker records it."""
    record = Spooled(run=new_run("fake"), header=header(), sample=taken or sample(CELL))
    return record.model_dump_json(by_alias=True, exclude_defaults=False).encode()


def test_what_was_repeated_is_said(said: list[str]) -> None:
    fleet = DaskFleet(crew(said, a=HERE), Path("/state"))
    assert fleet.report() == ""
    fleet.crew.counts.update(again=2, recognised=1)
    assert fleet.report() == (
        "workers or connections were lost: 2 samples begun again, 1 sample recorded already and "
        "not taken again"
    )


@pytest.mark.parametrize(
    ("taken", "late"),
    [
        (Taken(b"", 1, recognised=False), False),
        (Taken(b"", 2, recognised=False), True),
        (Taken(b"", 2, recognised=True), False),  # it was recorded before its worker died
    ],
)
def test_a_sample_that_was_begun_again_is_late_for_its_pair(
    answered: Crew, taken: Taken, late: bool
) -> None:
    answered.client.answers = {"here": replace(taken, record=spooled())}
    fleet = DaskFleet(answered, Path("/state"), {})
    placing = fleet.placing()
    placing.leave("there", "")
    taking = Samples(answered, "s", "r", "m", None, "c", placing, {"timeout": 1.0}, {})  # type: ignore[arg-type]
    found = taking.run(Task(CELL, "timing", 0))
    assert taking.was_late(found) == late
    taking.drop(found)
    assert not taking.was_late(found)
    assert "1 sample taken again with the other one of their pair" in fleet.report()


def submitted(monkeypatch: pytest.MonkeyPatch, lost: int) -> list[Order]:
    """Every order that is handed in; the scheduler loses the first ones."""
    orders, submit = list[Order](), Worker.submit

    def losing(
        self: Worker, function: Callable[..., Any], order: Order, **more: Any
    ) -> Future[Any]:
        orders.append(order)
        if len(orders) > lost:
            return submit(self, function, order, **more)
        done: Future[Any] = Future()
        done.set_exception(CancelledError("the scheduler has lost it"))
        done.release = lambda: None  # type: ignore[attr-defined]
        return done

    monkeypatch.setattr(Worker, "submit", losing)
    return orders


def taking_here(answered: Crew, found: Taken | Exception) -> Samples:
    """Takes samples on the first of two machines, with one answer to each order."""
    answered.client.answers = {"here": found}
    placing = DaskFleet(answered, Path("/state"), {}).placing()
    placing.leave("there", "")
    return Samples(answered, "s", "r", "m", None, "c", placing, {"timeout": 1.0}, {})  # type: ignore[arg-type]


@pytest.mark.parametrize(("lost", "recognised", "late"), [
    (0, False, False), (1, False, True), (4, False, True), (1, True, False),
])  # fmt: skip
def test_a_sample_that_was_lost_and_taken_anew_is_late_for_its_pair(
    answered: Crew, monkeypatch: pytest.MonkeyPatch, lost: int, recognised: bool, late: bool
) -> None:
    taking = taking_here(answered, Taken(spooled(), 1, recognised=recognised))
    orders = submitted(monkeypatch, lost)
    found = taking.run(Task(CELL, "timing", 0))
    assert len(orders) == lost + 1
    assert taking.was_late(found) == late


def test_a_sample_that_is_lost_each_time_ends_the_command_and_says_why(
    answered: Crew, monkeypatch: pytest.MonkeyPatch
) -> None:
    taking = taking_here(answered, Taken(spooled(), 1, recognised=False))
    orders = submitted(monkeypatch, lost=100)
    with pytest.raises(FleetError, match=r"lost the sample .* 5 times: the scheduler has lost it"):
        taking.run(Task(CELL, "timing", 0))
    assert len(orders) == 5


def test_a_sample_that_ended_its_worker_each_time_is_a_crash_of_the_machine_of_the_results(
    answered: Crew,
) -> None:
    taking = taking_here(answered, Taken(b"", 4, recognised=False))
    killed = taking.run(Task(CELL, "counting", 0))
    assert (killed.status, killed.cell, taking.was_late(killed)) == ("killed", CELL, False)
    assert taking.machine_of(killed) == HERE.machine.model_copy(update={"machine": "m"})
    assert "1 sample given up" in DaskFleet(answered, Path("/state")).report()


def test_a_sample_that_was_accepted_is_not_fetched_in_the_end(
    answered: Crew, monkeypatch: pytest.MonkeyPatch
) -> None:
    taking = taking_here(answered, Taken(spooled(), 1, recognised=False))
    orders = submitted(monkeypatch, lost=0)
    accepted, left = (taking.run(Task(CELL, "counting", number)) for number in range(2))
    taking.accept(accepted)
    assert taking.accepted == {orders[0].key}
    assert taking.machine_of(left)


@pytest.mark.parametrize("filled", [True, False])
def test_a_cache_that_a_failed_sample_left_need_not_be_there(
    answered: Crew, monkeypatch: pytest.MonkeyPatch, filled: bool
) -> None:
    """A build that dies leaves no cache; its warm samples then fail, and the command goes on."""
    fill = sample(CELL) if filled else failed(CELL)
    taking = taking_here(answered, Taken(spooled(fill), 1, recognised=False))
    orders = submitted(monkeypatch, lost=0)
    taking.run(Task(CELL, "counting", 0, keep="made"))
    taking.run(Task(replace(CELL, scenario="warm_disk"), "counting", 0, cache="made"))
    assert [order.filled for order in orders] == [False, filled]


def test_of_workers_of_one_machine_that_own_the_same_cpu_only_the_first_may_measure() -> None:
    own = replace(HERE, cpus=(0,))
    container = replace(own, name="container", state=Path("/else"))
    beside, elsewhere = replace(HERE, cpus=(1,)), replace(own, boot="another")
    unfit = replace(own, problem="it is not fit", since=-1.0)
    found = apart({"e": unfit, "d": elsewhere, "c": beside, "b": container, "a": own})
    assert {address: place.problem for address, place in found.items()} == {
        "a": "",
        "b": "it shares CPU 0 with the worker a; give each its own CPU",
        "c": "",
        "d": "",
        "e": "it is not fit",
    }


def test_who_owns_the_cpu_of_another_worker_takes_nothing_until_that_one_has_ended(
    said: list[str],
) -> None:
    first = replace(HERE, cpus=(0,), since=1.0)
    later = replace(first, name="container", state=Path("/else"), since=2.0)
    one = crew(said, a=later, b=first)
    assert (one.number, *one.sites) == (1, "here")
    shares = "it shares CPU 0 with the worker b; give each its own CPU"
    assert said == [f"the worker a on one is left out: {shares}"]
    one._looked = 0.0
    one.refresh()
    assert one.client.let == [("container", 0, ["a"])] * 2  # it may have joined anew
    del one.client.places["b"]
    one._looked = 0.0
    one.refresh()
    assert one.client.let[2:] == [("container", 1, ["a"])]
    assert one.sites["container"].addresses == ["a"]
    one.refresh(now=True)
    assert len(one.client.let) == 3
