"""`observatory bisect` over subjects whose counts follow a script; what is recorded is real."""

from __future__ import annotations

import ast
import contextlib
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from observatory.app import bisection, unwritten
from observatory.app import session as of_session
from observatory.app.bisection import Sought, bisect
from observatory.app.probing import Prober
from observatory.app.session import Session
from observatory.benchmarks.catalogue import METRICS, Cell
from observatory.benchmarks.plan import Task
from observatory.run import counter
from observatory.run.environments import NO_PINS, EnvironmentMakingError
from observatory.run.sources import SubjectError
from observatory.run.together import Resolved, Together
from observatory.store.records import searches
from observatory.store.records.sample import Sample
from observatory.store.records.searches import Searched
from observatory.store.records.subject import Subject, Versions
from tests.factories import WARM, header, ledger, sample, subject

SUBJECTS = [
    subject(
        f"3.0.{number}", requirements=(f"pytensor==3.0.{number}",), commit=f"{number:08x}{0:032x}",
        date=header().subject.date + timedelta(days=number),
    )
    for number in range(16)
]  # fmt: skip


@dataclass(frozen=True)
class Place:
    """An environment, which knows whose it is."""

    key: str
    versions: Versions


def interrupt() -> None:
    raise KeyboardInterrupt


@dataclass
class World:
    """What each subject counts, and what was measured in which state."""

    session: Session
    misses: list[int | None]
    """None: there is no environment."""
    again: dict[str, int] = field(default_factory=dict)
    """What a second measurement counts instead."""
    numba: dict[int, str] = field(default_factory=dict)
    """From this subject on, the numba of the first measurement."""
    taken: list[tuple[str, str]] = field(default_factory=list)
    """The state and the subject of each sample of the warm cell, in order."""
    dies_after: int = 1000
    dies: Callable[[], None] = interrupt
    ends_after: int = 1000
    """Samples of the warm cell after which the time is over."""
    now: float = 0.0
    """Seconds; the time is over after 1."""
    counted_by: str = ""
    only: dict[str, object] = field(default_factory=dict)
    """The graphs that the samples of each subject built."""
    ledgers: bool = False
    """Whether what would miss is built without asking the cache."""

    def environment(
        self, session: Session, one: Subject, added: Sequence[str], pins: Mapping[str, str]
    ) -> Place:
        del added, pins
        number = SUBJECTS.index(one)
        if self.misses[number] is None:
            raise EnvironmentMakingError(f"{one.label} does not build")
        packages = {name: version for start, version in self.numba.items()
                    for name in ("numba",) if number >= start}  # fmt: skip
        versions = header().versions.model_copy(update={"packages": packages})
        return Place(f"{session.state.name} {number}", versions)

    def counted(self, number: int, *, again: bool) -> Sample:
        """What a sample of the warm cell says."""
        value = self.misses[number]
        if again:
            value = self.again.get(SUBJECTS[number].label, value)
        assert value is not None
        if self.ledgers:
            lost = ledger(*["Exp"] * value, outcome="internal")
            whole = [*lost, *ledger(*["Exp"] * (9 - value))]
            return sample(WARM, "counting", ledger=whole, metrics={"cache_misses": 0})
        if self.counted_by:
            work = {"instructions": 2e9 + 1e8 * value}
            return sample(WARM, "work", metrics=work, counted_by=self.counted_by)
        return sample(WARM, "counting", metrics={"cache_misses": value})

    def find(self, confirm: bool = True, **more: Any) -> Searched:
        return bisect(self.session, Sought(SUBJECTS, WARM, "cache_misses", confirm=confirm, **more))


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    session = Session(
        "bisect", tmp_path / "results", tmp_path / "state", header().machine, deadline=1.0
    )
    made = World(session, [0] * 9 + [4] * 7)
    monkeypatch.setattr(time, "monotonic", lambda: made.now)

    class Executor:
        def __init__(self, held: Place, caches: Path, *_: object, **options: Any) -> None:
            self.held, self.caches = held, caches
            made.only[held.key] = options["only"]

        def holds(self, cache: str) -> bool:
            return (self.caches / cache).is_dir()

        def run(self, task: Task) -> Sample:
            state, number = self.held.key.split()
            label = SUBJECTS[int(number)].label
            if task.keep is not None:
                (self.caches / task.keep).mkdir(exist_ok=True)  # runs of one second share it
            if task.cell != WARM:
                return sample(task.cell, "counting", metrics={"cache_misses": 40})
            if len(made.taken) == made.dies_after:
                made.dies()
            made.taken.append((state, label))
            if len(made.taken) == made.ends_after:
                made.now = 2.0
            return made.counted(int(number), again=state == "again")

        def cancel(self) -> None:
            pass

    def alike(_: Session, base: Subject, head: Subject) -> tuple[Together, str]:
        return Together(Resolved(base, {}), Resolved(head, {}), {}), ""

    monkeypatch.setattr(of_session, "Executor", Executor)
    monkeypatch.setattr(of_session, "measuring_lock", lambda _: contextlib.nullcontext())
    monkeypatch.setattr(unwritten, "write", lambda *_: [])
    monkeypatch.setattr(bisection, "alike", alike)
    monkeypatch.setattr(Session, "environment", made_environment(made))
    return made


def made_environment(world: World) -> Any:
    def environment(
        session: Session, one: Subject, added: Sequence[str] = (), pins: Mapping[str, str] = NO_PINS
    ) -> Place:
        return world.environment(session, one, added, pins)

    return environment


def test_the_culprit_is_found_and_measured_again_in_the_other_order(world: World) -> None:
    found = world.find()
    (culprit,) = found.culprits
    assert (culprit.before.label, culprit.after.label) == ("3.0.8", "3.0.9")
    assert (culprit.low, culprit.high, culprit.again) == (0, 4, (0, 4))
    assert culprit.certainty == "confirmed"
    assert world.taken[-2:] == [("again", "3.0.9"), ("again", "3.0.8")]
    assert found.measured == len(world.taken) - 2 <= 6
    assert found.samples == 2 * len(world.taken)  # each with the build that fills its cache


def test_a_search_says_first_what_it_looks_for(world: World) -> None:
    world.find()
    told: list[str] = []
    world.session = replace(world.session, progress=lambda update: told.append(update.text))
    world.find()
    ends = f"{SUBJECTS[0].label} to {SUBJECTS[-1].label}"
    assert told[0].startswith(f"cache_misses of {WARM}, {ends}: 16 subjects, of which ")


def test_a_change_that_does_not_come_back_is_not_blamed_and_the_search_goes_on(
    world: World,
) -> None:
    world.misses = [0] * 9 + [4] + [0] * 3 + [4] * 3  # 4 of 3.0.9 was an accident
    world.again = {"3.0.9": 0}
    found = world.find(first={SUBJECTS[9].commit})
    accident, culprit = found.culprits
    assert (accident.after.label, accident.certainty, accident.again) == (
        "3.0.9", "not reproduced", (0, 0)
    )  # fmt: skip
    assert (culprit.before.label, culprit.after.label) == ("3.0.12", "3.0.13")
    assert culprit.certainty == "confirmed"
    assert next(one for one in found.probes if one.at.label == "3.0.9").value == 0


def test_an_alert_that_was_an_accident_has_no_culprit(world: World) -> None:
    world.misses = [0] * 15 + [4]
    world.again = {"3.0.15": 0}
    (culprit,) = world.find().culprits
    assert (culprit.after.label, culprit.certainty) == ("3.0.15", "not reproduced")


def test_a_change_of_the_dependencies_is_told_beside_it(world: World) -> None:
    world.numba = {0: "0.66.0", 9: "0.68.0"}
    world.again = {"3.0.9": 0}
    (culprit,) = world.find().culprits
    assert culprit.dependencies == {"numba": ("0.66.0", "0.68.0")}
    assert culprit.certainty == "dependencies"


def test_what_does_not_build_is_skipped_and_named(world: World) -> None:
    world.misses[8] = world.misses[9] = None
    (culprit,) = world.find().culprits
    assert (culprit.before.label, culprit.after.label) == ("3.0.7", "3.0.10")
    assert culprit.skipped == ["3.0.8", "3.0.9"]


def test_an_interrupted_search_goes_on_and_measures_nothing_twice(world: World) -> None:
    world.dies_after = 3
    with pytest.raises(KeyboardInterrupt):
        world.find(confirm=False)
    world.dies_after = 1000
    (culprit,) = world.find(confirm=False).culprits
    assert culprit.after.label == "3.0.9"
    assert len(world.taken) == len(set(world.taken)) <= 6


def test_a_second_search_measures_nothing(world: World) -> None:
    world.find(confirm=False)
    before = len(world.taken)
    found = world.find(confirm=False)
    assert (found.measured, len(world.taken)) == (0, before)


def test_a_confirmation_that_was_interrupted_measures_nothing_twice(world: World) -> None:
    world.find(confirm=False)
    world.dies_after = len(world.taken) + 1
    with pytest.raises(KeyboardInterrupt):
        world.find()
    assert world.taken[-1] == ("again", "3.0.9")
    world.dies_after = 1000
    (culprit,) = world.find().culprits
    assert culprit.certainty == "confirmed"
    assert len(world.taken) == len(set(world.taken))


def test_killed_twenty_times_it_goes_on_and_measures_nothing_twice(
    world: World, tmp_path: Path
) -> None:
    world.misses = [2 * (number // 2) for number in range(len(SUBJECTS))]  # seven changes
    log = tmp_path / "taken"

    def killed() -> None:
        log.write_text(repr(world.taken))
        os.kill(os.getpid(), signal.SIGKILL)

    kills, taken = 0, list[tuple[str, str]]()
    while True:
        world.taken, world.dies, world.dies_after = [], killed, 1
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException):
                world.find()
            log.write_text(repr(world.taken))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        taken += ast.literal_eval(log.read_text())
        if not os.WIFSIGNALED(status):
            break
        kills += 1
    (found,) = searches.load_all(world.session.results)
    assert kills >= 20
    assert len(taken) == len(set(taken)) == 16 + 2 * 7
    assert isinstance(found, Searched)
    assert [one.certainty for one in found.culprits] == ["confirmed"] * 7


def test_what_is_counted_of_some_graphs_is_no_value_of_the_cell(world: World) -> None:
    found = world.find(graphs=("linalg.svd", "linalg.eig"))
    assert found.graphs == ["linalg.eig", "linalg.svd"]
    assert [one.certainty for one in found.culprits] == ["confirmed"]
    assert set(world.only.values()) == {("linalg.eig", "linalg.svd")}
    assert not (world.session.results / "samples").exists()
    taken = len(world.taken)
    again = world.find(graphs=("linalg.eig", "linalg.svd"))
    assert (len(world.taken), again.measured) == (taken, 0)
    # Other graphs have values of their own, and so has the whole model.
    world.find(graphs=("linalg.svd",))
    assert len(world.taken) == 2 * taken
    assert world.find().graphs == []
    assert len(world.taken) == 3 * taken
    assert world.only["state 0"] == ()


def test_what_is_found_is_recorded_and_replaced_by_the_next_search(world: World) -> None:
    first = world.find(confirm=False)
    assert list(searches.load_all(world.session.results)) == [first]
    assert [one.at.label for one in first.probes] == sorted(
        (one.at.label for one in first.probes), key=lambda label: int(label.rpartition(".")[2])
    )
    second = world.find()
    assert list(searches.load_all(world.session.results)) == [second]
    assert second.culprits[0].certainty == "confirmed"


def test_when_the_time_is_over_the_record_says_so_and_the_next_search_goes_on(
    world: World,
) -> None:
    world.ends_after = 2
    found = world.find()
    assert (found.finished, found.culprits, len(world.taken)) == (False, [], 2)
    world.now, world.ends_after = 0.0, 1000
    again = world.find()
    assert again.finished
    assert again.culprits[0].after.label == "3.0.9"
    assert len(world.taken) == len(set(world.taken))


def test_functions_that_a_cache_no_longer_gives_are_counted_beside_the_first_subject(
    world: World,
) -> None:
    world.ledgers = True
    world.misses[4] = None

    def search() -> Searched:
        return bisect(world.session, Sought(SUBJECTS, WARM, "reuse_lost"))

    found = search()
    (culprit,) = found.culprits
    assert (culprit.before.label, culprit.after.label) == ("3.0.8", "3.0.9")
    assert (culprit.low, culprit.high, culprit.again) == (0, 4, (0, 4))
    assert culprit.certainty == "confirmed"
    assert [one.value for one in found.probes if one.at.label == "3.0.0"] == [0]
    assert len(world.taken) == len(set(world.taken))
    before = len(world.taken)
    assert search().culprits[0].certainty == "confirmed"
    assert len(world.taken) == before  # nothing is measured twice


def test_a_recorded_ledger_is_used_once_that_of_the_first_subject_is_known(world: World) -> None:
    world.ledgers = True
    bisect(world.session, Sought(SUBJECTS[4:], WARM, "reuse_lost", confirm=False))
    known = set(world.taken)
    bisect(world.session, Sought([SUBJECTS[0], *SUBJECTS[4:]], WARM, "reuse_lost", confirm=False))
    assert set(world.taken) - known == {("state", "3.0.0")}
    assert len(world.taken) == len(known) + 1


def test_a_place_where_something_else_changed_is_tried_first(world: World) -> None:
    world.find(confirm=False, first={SUBJECTS[8].commit, SUBJECTS[9].commit})
    assert [label for _, label in world.taken] == ["3.0.0", "3.0.15", "3.0.8", "3.0.9"]


def test_work_that_another_source_counted_is_measured_here(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def search(source: str) -> Searched:
        world.counted_by = source
        monkeypatch.setattr(counter, "find", lambda: counter.Counter(source, ""))
        return bisect(world.session, Sought(SUBJECTS, WARM, "instructions", confirm=False))

    first, same, other = (search(one) for one in ("callgrind", "callgrind", "hardware"))
    assert first.culprits[0].after.label == "3.0.9"
    assert first.measured == other.measured > same.measured == 0


def test_a_search_takes_as_many_waits_as_a_verdict_needs(world: World) -> None:
    tasks = Prober(world.session, WARM, METRICS["waiting_time"]).tasks
    assert [one.measure for one in tasks if one.keep is None] == ["timing"] * 5


def test_calls_that_an_older_version_counted_are_measured_here(world: World) -> None:
    cell = Cell("radon", "warm_disk", "C", "spawn")
    prober = Prober(world.session, cell, METRICS["python_calls"])
    older = sample(cell, "tracing", {"python_calls": 600_000})
    now = sample(cell, "tracing", {"python_calls": 480_000}, counted_by=cell.traced_by)
    assert prober.median([older]) is None
    assert prober.median([older, now]) == 480_000


def test_an_end_without_a_value_is_named(world: World) -> None:
    world.misses[0] = None
    with pytest.raises(SubjectError, match=r"3\.0\.0 gave no cache_misses in "):
        world.find()


def test_of_an_exact_count_the_worst_sample_counts_as_in_every_verdict(world: World) -> None:
    metric = METRICS["wrong_results"]
    taken = [
        sample(WARM, "counting", {"wrong_results": 7}),
        *(sample(WARM, "timing", {"wrong_results": 0}) for _ in range(3)),
    ]
    assert Prober(world.session, WARM, metric).median(taken) == 7
