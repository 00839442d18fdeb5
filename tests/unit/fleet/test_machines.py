"""Samples on several machines, from the order to the journal; only the workers are stand-ins."""

from __future__ import annotations

import re
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from observatory.app.comparer import Comparer, Measured
from observatory.app.progress import Update
from observatory.app.session import Session
from observatory.app.taking import Journals
from observatory.benchmarks.catalogue import Cell
from observatory.benchmarks.plan import Task
from observatory.cli.main import _Interrupted
from observatory.fleet import joining, preparing
from observatory.fleet import worker as remote
from observatory.fleet.cluster import DaskFleet
from observatory.fleet.crew import Crew
from observatory.fleet.orders import Order, Place, Recipe, Taken
from observatory.run.environments import NO_PINS, Environment, EnvironmentMakingError
from observatory.run.fleets import FleetError
from observatory.run.interleave import Matrix
from observatory.run.interpreters import NoInterpreterError
from observatory.run.spool import Spool, Spooled
from observatory.store.journal.models import JournalEntry
from observatory.store.journal.reader import read_journal
from observatory.store.reading.saved import INTERLEAVED
from tests.factories import RUN, header, sample
from tests.unit.cli.commands.test_compare import setting
from tests.unit.fleet.test_crew import Loop

OWN = header().machine
OTHER = OWN.model_copy(update={"cpu": "Another CPU"})
COLD, DISK, CALL, PROCESS = (
    Cell("radon", scenario, "NUMBA", "spawn")
    for scenario in ("cold", "warm_disk", "call", "warm_process")
)
VARIANTS = Cell("radon", "variants", "NUMBA", "spawn")
COUNTS = [
    Task(replace(cell, backend=backend), "counting", 0)
    for cell in (COLD, CALL)
    for backend in ("C", "C_VM", "NUMBA")
]
"""Each is a chain of its own."""
NO_PYTHON = NoInterpreterError("Python 3.13 is not installed (found: 3.12)")


@dataclass
class Cluster:
    """Workers that record a sample of no meaning in their spool, as they are ordered."""

    places: dict[str, Place]
    refused: dict[str, dict[Any, Exception]] = field(default_factory=lambda: defaultdict(dict))
    """By host, what each function raises."""
    taken: list[tuple[str, Task]] = field(default_factory=list)
    """The host that took each sample."""
    lost: dict[str, list[Task]] = field(default_factory=dict)
    """The hosts that disappear while they take a sample of these; empty: of any."""
    recording: bool = False
    """Whether a host that disappears has recorded the sample, but not returned it."""
    kept: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """The filled caches of each host."""
    made: list[str] = field(default_factory=list)
    """The hosts that made an environment."""
    loop: Loop = field(default_factory=Loop)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def place(self, name: str) -> Place:
        return next(one for one in self.places.values() if one.name == name)

    @property
    def scheduler(self) -> Cluster:
        return self

    def sync(self, function: Callable[..., Any], **given: Any) -> Any:
        return function(**given)

    def identity(self, n_workers: int) -> dict[str, Any]:
        return {"workers": dict.fromkeys(self.places)}

    def run(
        self, function: Callable[..., Any], *args: Any, workers: list[str], **_: Any
    ) -> dict[str, Any]:
        def answer(address: str) -> Any:
            place = self.places.get(address)
            if place is None:
                return OSError("it is gone")
            if function is joining.standing:
                return place
            if function is remote.recorded:
                return Spool.of(place.state, args[0]).records()
            if function is remote.filled:
                return sorted(self.kept[place.host])
            return [] if function is remote.lacking else None

        return {address: answer(address) for address in workers}

    def submit(self, function: Callable[..., Any], *args: Any, **_: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.release = lambda: None  # type: ignore[attr-defined]
        name = args[0].place if function is remote.take else args[-2 + (function is remote.make)]
        place = next((one for one in self.places.values() if one.name == name), None)
        if place is None:  # Dask keeps it for a worker that may join
            return done
        if error := self.refused[place.host].get(function):
            done.set_exception(error)
        elif function is not remote.take:
            self.made += [place.host] if function is remote.make else []
            done.set_result("")
        elif not self._ends(place.host, args[0].task):
            done.set_result(self._take(args[0], place))
        else:
            if self.recording:
                self._take(args[0], place)
            self.lose(place.host)
        return done

    def _ends(self, host: str, task: Task) -> bool:
        return host in self.lost and (not self.lost[host] or task in self.lost[host])

    def lose(self, host: str) -> dict[str, Place]:
        """Let all workers of a host disappear, and return them."""
        gone = {address: place for address, place in self.places.items() if place.host == host}
        for address in gone:
            del self.places[address]
        self.lost.pop(host, None)
        return gone

    def _take(self, order: Order, place: Place) -> Taken:
        with self._lock:
            self.taken.append((place.host, order.task))
            number = len(self.taken)
        assert order.task.cache is None or order.task.cache in self.kept[place.host]
        if order.task.keep:
            self.kept[place.host].add(order.task.keep)
        machine = place.machine.model_copy(update={"machine": order.machine})
        under = header(order.recipe.subject.label).model_copy(update={"machine": machine})
        one = sample(order.task.cell, order.task.measure, {"compile_time": number})
        record = Spooled(run=order.run, header=under, sample=one)
        content = record.model_dump_json(by_alias=True, exclude_defaults=False).encode()
        spool = Spool.of(place.state, order.session)
        spool.begin(order.key)
        return Taken(spool.record(order.key, content), 1, recognised=False)


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    """This machine, its twin with the same model of CPU, and one with another model."""
    home = Place("home", "home", "boot", True, tmp_path / "state", OWN, (0,))
    twin = replace(home, name="twin", host="twin", boot="2", home=False, state=tmp_path / "twin")
    other = replace(
        twin, name="other", host="other", boot="3", state=tmp_path / "other", machine=OTHER
    )
    monkeypatch.setattr(preparing, "described", described)
    beside = {name: replace(one, cpus=(1,)) for name, one in (("b", home), ("d", other))}
    return Cluster({"a": home, "c": twin, "e": other, **beside})


def described(subject: Any, added: Any, pins: Any, environment: Environment, _: Path) -> Any:
    return Recipe(subject, tuple(added), dict(pins), environment), {}


def fleet(cluster: Cluster, said: list[str], state: Path) -> DaskFleet:
    class Plugin:
        name = "observatory"

    crew = Crew(cluster, OWN.cpu, said.append, Plugin())  # type: ignore[arg-type]
    crew.refresh(now=True)
    return DaskFleet(crew, state)


@contextmanager
def comparing(
    cluster: Cluster, tmp_path: Path, matrix: Matrix, progress: Callable[[Update], None]
) -> Iterator[Comparer]:
    """A comparison of two subjects on the cluster."""
    own = fleet(cluster, [], tmp_path / "state")
    session = Session(
        INTERLEAVED, tmp_path, own.state, OWN, progress=progress, fleet=own, workers=own.workers
    )
    made = Environment(Path("/env/python"), header().versions, "key", Path("/env"))
    sides = {
        name: Measured(made, Journals(tmp_path / name, header(label)))
        for name, label in (("base", "3.3.6"), ("head", "3.3.7"))
    }
    yield Comparer(session, sides, setting(), matrix, 60.0)  # type: ignore[arg-type]


def entries(results: Path) -> list[JournalEntry]:
    return [one for path in sorted(results.rglob("*.jsonl")) for one in read_journal(path).entries]


def test_a_comparison_tells_how_much_of_its_step_is_left(cluster: Cluster, tmp_path: Path) -> None:
    updates: list[Update] = []
    matrix = Matrix((("all", (DISK, CALL)),), (), (DISK,))
    with comparing(cluster, tmp_path, matrix, updates.append) as comparer:
        comparer.sample(3)
    told = [one for one in updates if one.kind == "activity" and one.text]
    assert all(" in this step: " in one.text for one in told)
    # Of each side a build that fills the cache and two cells; then three pairs of times.
    assert [one.total for one in told] == [6] * 6 + [6] * 6
    timed = [one for one in told if " timing " in one.text]
    assert [one.done for one in timed] == [0, 0, 2, 2, 4, 4]  # a pair ends as a whole on a fleet
    assert told[0].done == 0
    assert max(one.done for one in told[:6]) >= 2  # the cells wait for what fills their cache


def test_pairs_meet_one_machine_times_come_from_equals_and_counts_from_any(
    cluster: Cluster, tmp_path: Path
) -> None:
    cells = (COLD, DISK, CALL, PROCESS, VARIANTS)
    cells += tuple(replace(cell, launch="fork") for cell in cells)
    cells += tuple(replace(cell, backend="C") for cell in cells)
    timed = tuple(cell for cell in cells if cell.scenario != "variants")
    matrix = Matrix((("all", cells),), timed[:2], timed, timed)
    with comparing(cluster, tmp_path, matrix, lambda _: None) as comparer:
        comparer.sample(3)
    hosts = defaultdict[Task, list[str]](list)
    by_pass = defaultdict[str, set[str]](set)
    for host, task in cluster.taken:
        hosts[task].append(host)
        by_pass[task.measure].add(host)
    assert {len(pair) for pair in hosts.values()} == {2}
    assert [task for task, pair in hosts.items() if len(set(pair)) > 1] == []
    assert by_pass["counting"] == {"home", "twin", "other"}
    assert by_pass["timing"] == by_pass["work"] == {"home", "twin"}
    for task, (host, _) in hosts.items():
        if task.keep or task.cache:  # machine code for one model of CPU
            assert host != "other"
    cpus = defaultdict[str, set[str]](set)
    for one in entries(tmp_path / "base"):
        cpus[one.sample.measure].add(one.header.machine.cpu)
    assert cpus["counting"] == {OWN.cpu, OTHER.cpu}  # each below the machine that it is of
    assert cpus["timing"] == cpus["work"] == {OWN.cpu}


@pytest.mark.parametrize("after", [0, 1, 2, 3])
@pytest.mark.parametrize("interrupted", [KeyboardInterrupt, _Interrupted])
def test_ctrl_c_in_a_pair_keeps_each_sample_that_was_recorded(
    cluster: Cluster, tmp_path: Path, after: int, interrupted: type[BaseException]
) -> None:
    """The second is what the handlers of the command line raise."""

    def interrupt(update: Update) -> None:
        if " timing " in update.text and len(cluster.taken) == after:
            raise interrupted

    matrix = Matrix((), (), (COLD,))
    with (
        comparing(cluster, tmp_path, matrix, interrupt) as comparer,
        pytest.raises(interrupted),
    ):
        comparer.sample(7)
    kept = [len(entries(tmp_path / side)) for side in ("base", "head")]
    assert (sum(kept), len(cluster.taken)) == (after, after)
    assert abs(kept[0] - kept[1]) == after % 2


@contextmanager
def taking(cluster: Cluster, said: list[str], tmp_path: Path) -> Iterator[Any]:
    own = fleet(cluster, said, tmp_path / "state")
    own._untimed = {}
    made = Environment(Path("/env/python"), header().versions, "key", Path("/env"))
    with own.samples(
        tmp_path / "results", RUN, OWN.machine, header().subject, made, added=(), pins=NO_PINS,
        caches=own.state / "caches", placing=own.placing(), settings={"timeout": 1.0},
    ) as found:  # fmt: skip
        yield found


def test_a_machine_without_the_python_is_named_and_others_take_the_samples(
    cluster: Cluster, tmp_path: Path
) -> None:
    cluster.refused["twin"][remote.make] = NO_PYTHON
    said: list[str] = []
    with taking(cluster, said, tmp_path) as samples:
        for task in COUNTS:
            samples.run(task)
            samples.run(replace(task, measure="timing"))
    assert said[:1] == [f"twin takes no sample: {NO_PYTHON}"]
    assert {host for host, _ in cluster.taken} == {"home", "other"}


def test_a_subject_whose_python_no_machine_has_is_given_up_with_the_reasons(
    cluster: Cluster, tmp_path: Path
) -> None:
    for address in ("a", "b"):  # the client's machine takes no part
        del cluster.places[address]
    for host in ("twin", "other"):
        cluster.refused[host][remote.make] = NO_PYTHON
    said: list[str] = []
    with (
        pytest.raises(EnvironmentMakingError, match=r"no worker .* can take a sample of 3\.3\.7"),
        taking(cluster, said, tmp_path),
    ):
        pass
    assert sorted(said) == [f"{host} takes no sample: {NO_PYTHON}" for host in ("other", "twin")]
    assert cluster.taken == []


def test_a_python_that_is_gone_later_sends_counts_elsewhere_until_no_machine_has_it(
    cluster: Cluster, tmp_path: Path
) -> None:
    for host in ("home", "twin"):
        cluster.refused[host][remote.take] = NO_PYTHON
    said: list[str] = []
    with taking(cluster, said, tmp_path) as samples:
        for task in COUNTS:
            samples.run(task)
        assert {host for host, _ in cluster.taken} == {"other"}
        assert sorted(said) == [
            f"{host} takes no further sample: {NO_PYTHON}" for host in ("home", "twin")
        ]
        cluster.refused["other"][remote.take] = NO_PYTHON
        with pytest.raises(FleetError, match=no_one_can("home", "twin", "other")):
            samples.run(Task(CALL, "counting", 0))


def no_one_can(*hosts: str) -> str:
    lacks = "; ".join(f"on {host} {re.escape(str(NO_PYTHON))}" for host in hosts)
    return f"^{CALL} counting: no worker of the cluster can take it: {lacks}$"


def test_a_python_that_is_gone_later_ends_times_because_a_pair_may_be_split(
    cluster: Cluster, tmp_path: Path
) -> None:
    cluster.refused["home"][remote.take] = cluster.refused["twin"][remote.take] = NO_PYTHON
    refuses = r"(home|twin) refuses the sample .Python 3\.13 is not .*; .* start the command again"
    with taking(cluster, [], tmp_path) as samples, pytest.raises(FleetError, match=refuses):
        samples.run(Task(CALL, "timing", 0))
    assert cluster.taken == []
