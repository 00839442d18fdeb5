"""`observatory cross` over subjects whose counts follow a script; what is recorded is real."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from observatory.app import crossing, unwritten
from observatory.app import session as of_session
from observatory.app.crossing import Asked, cross
from observatory.app.session import Session
from observatory.benchmarks.plan import Task
from observatory.run.environments import NO_PINS, EnvironmentMakingError
from observatory.run.sources import SubjectError
from observatory.store.journal.models import SEARCH
from observatory.store.reading.saved import load_all
from observatory.store.records import crossings
from observatory.store.records.crossings import Combined, Crossed
from observatory.store.records.sample import Sample
from observatory.store.records.subject import Subject, Versions
from tests.factories import WARM, header, sample, subject

Held = Mapping[str, str]
"""What an environment holds."""
PACKAGES = {"numba": ("0.66.0", "0.68.0"), "numpy": ("2.4.6", "2.5.4"), "filelock": ("3", "4")}


def end(place: int) -> Subject:
    """The old or the new end; its requirements say all that it holds."""
    asked = [
        f"pytensor==3.3.{place}",
        *(f"{name}=={both[place]}" for name, both in PACKAGES.items()),
    ]
    return subject(f"3.3.{place}", requirements=tuple(asked))


@dataclass(frozen=True)
class Place:
    """An environment."""

    key: str
    held: Held
    versions: Versions


@dataclass
class World:
    """What each environment counts, and what was measured."""

    session: Session
    count: Callable[[Held], int | None]
    """None: its sample fails."""
    impossible: Callable[[Held], bool] = lambda _: False
    other: Held = field(default_factory=dict)
    """Versions that the environments of combinations have, whatever is asked for."""
    taken: list[Held] = field(default_factory=list)
    ends_after: int = 1000
    """Samples after which the time is over."""
    now: float = 0.0
    only: object = ()
    """The graphs that the last sample built; empty: all."""
    listed: tuple[str, ...] = ("0.66.1", "0.67.0", "0.67.1", "0.67.2")
    """The releases of numba on the index between both ends."""

    def find(self, **more: Any) -> Crossed:
        return cross(self.session, Asked(end(0), end(1), WARM, "cache_misses", **more))

    def environment(self, one: Subject) -> Place:
        held = dict(text.split("==") for text in one.requirements)
        if self.impossible(held):
            raise EnvironmentMakingError("uv says: no solution found")
        held |= self.other if one.extras else {}
        versions = Versions(pytensor=held["pytensor"], numba=None, python="3.13.0", packages=held)
        return Place(f"{abs(hash(one.label)):x}", held, versions)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    where = tmp_path / "results", tmp_path / "state"
    session = Session(SEARCH, *where, header().machine, deadline=1.0)
    made = World(session, lambda _: 0)
    monkeypatch.setattr(time, "monotonic", lambda: made.now)

    class Executor:
        def __init__(self, held: Place, caches: Path, *_: object, **options: Any) -> None:
            self.held, self.caches = held, caches
            made.only = options["only"]

        def holds(self, cache: str) -> bool:
            return (self.caches / cache).is_dir()

        def run(self, task: Task) -> Sample:
            if task.keep is not None:
                (self.caches / task.keep).mkdir(exist_ok=True)
            if task.cell != WARM:
                return sample(task.cell, "counting", metrics={"cache_misses": 40})
            made.taken.append(self.held.held)
            if len(made.taken) == made.ends_after:
                made.now = 2.0
            value = made.count(self.held.held)
            given = {} if value is None else {"cache_misses": value}
            return sample(WARM, "counting", metrics=given)

        def cancel(self) -> None:
            pass

    def environment(
        _: Session, one: Subject, added: Sequence[str] = (), pins: Held = NO_PINS
    ) -> Place:
        del added, pins
        return made.environment(one)

    index = SimpleNamespace(between=lambda name, *_: made.listed if name == "numba" else ())
    monkeypatch.setattr(of_session, "Executor", Executor)
    monkeypatch.setattr(of_session, "measuring_lock", lambda _: contextlib.nullcontext())
    monkeypatch.setattr(unwritten, "write", lambda *_: [])
    monkeypatch.setattr(Session, "environment", environment)
    monkeypatch.setattr(Session, "subjects", SimpleNamespace(index=index))
    return made


def blamed(found: Crossed) -> list[list[str]]:
    return [one.axes for one in found.causes]


def newer_numba(held: Held) -> bool:
    return held["numba"] >= "0.67.1"


def test_the_axis_is_found_with_few_samples_and_its_release_too(world: World) -> None:
    world.count = lambda held: 4 if newer_numba(held) else 0
    found = world.find()
    assert [one.name for one in found.axes] == ["PyTensor", "numba", "numpy", "other packages"]
    assert blamed(found) == [["numba"]]
    assert [one.name for one in found.axes if one.needed] == ["numba"]
    assert (found.low, found.high) == (0, 4)
    (along,) = found.along
    (step,) = along.steps
    assert (along.package, step.before, step.after) == ("numba", "0.67.0", "0.67.1")
    assert along.releases == 6
    assert len(found.combinations) <= 5
    # A sample of a warm build is two, because it has to fill a cache.
    assert (found.samples + along.samples, found.full_product) == (2 * len(world.taken), 32)
    assert along.samples == 4
    assert len(world.taken) <= 2 + 5 + 3
    assert list(crossings.load_all(world.session.results)) == [found]


def test_graphs_that_do_not_show_the_change_alone_are_not_the_end(world: World) -> None:
    world.count = lambda held: 4 if newer_numba(held) and not world.only else 0
    found = world.find(graphs=["linalg.svd"], supposed=True)
    assert (found.graphs, blamed(found)) == ([], [["numba"]])
    # Who names them wants no others.
    named = world.find(graphs=["linalg.svd"])
    assert (named.graphs, blamed(named), named.low, named.high) == (["linalg.svd"], [], 0, 0)


def test_nothing_is_measured_twice(world: World) -> None:
    world.count = lambda held: 4 if newer_numba(held) else 0
    first = world.find()
    before = len(world.taken)
    again = world.find()
    assert len(world.taken) == before
    assert again.samples == 0
    assert not any(one.measured for one in again.combinations)
    assert blamed(again) == blamed(first)


def test_an_interrupted_search_says_so_and_goes_on(world: World) -> None:
    world.count, world.ends_after = lambda held: 4 if newer_numba(held) else 0, 3
    found = world.find()
    assert not found.finished
    assert found.causes == []
    assert (found.low, found.high) == (0, 4)
    before, world.now = len(world.taken), 0.0
    assert blamed(world.find()) == [["numba"]]
    measured = [tuple(sorted(held.items())) for held in world.taken]
    assert len(set(measured)) == len(measured) > before


def test_a_search_whose_time_was_over_before_the_ends_has_a_record(world: World) -> None:
    world.now = 2.0
    found = world.find()
    assert (found.finished, found.low, found.axes) == (False, None, [])


def test_two_axes_that_do_it_only_together_are_told(world: World) -> None:
    def both(held: Held) -> int:
        return 4 if newer_numba(held) and held["pytensor"] == "3.3.1" else 0

    world.count = both
    found = world.find()
    assert blamed(found) == [["PyTensor", "numba"]]
    (along,) = found.along
    assert along.steps[0].after == "0.67.1", "it was searched with the new PyTensor"


def test_a_combination_that_cannot_be_installed_is_named_and_not_measured(world: World) -> None:
    world.count = lambda held: 4 if newer_numba(held) else 0
    world.impossible = lambda held: newer_numba(held) and held["numpy"] == "2.4.6"
    found = world.find()
    assert blamed(found) == [["numba", "numpy"]]
    (cause,) = found.causes
    assert cause.untried == [["numba"]]
    assert found.along == [], "it is not known that numba did it"
    lost = [one for one in found.combinations if one.value is None]
    assert lost
    assert all("no solution found" in one.why for one in lost)
    assert not any(newer_numba(held) and held["numpy"] == "2.4.6" for held in world.taken)


def test_an_environment_with_other_versions_is_not_measured(world: World) -> None:
    world.count, world.other = lambda held: 4 if newer_numba(held) else 0, {"filelock": "5"}
    found = world.find(along=False)
    assert len(world.taken) == 2, "the two ends"
    assert all("instead of" in one.why for one in found.combinations)
    assert blamed(found) == [["PyTensor", "numba", "numpy", "other packages"]]
    assert found.causes[0].untried, "nothing is blamed alone"


def test_a_combination_whose_sample_fails_counts_for_neither_side(world: World) -> None:
    def count(held: Held) -> int | None:
        if newer_numba(held) and held["numpy"] == "2.4.6":
            return None
        return 4 if newer_numba(held) else 0

    world.count = count
    found = world.find()
    assert found.causes[0].untried == [["numba"]]
    assert {one.why for one in found.combinations if one.value is None} == {"gave no value"}


def test_half_of_the_change_is_not_the_change(world: World) -> None:
    world.count = lambda held: 2 * newer_numba(held) + 2 * (held["pytensor"] == "3.3.1")
    found = world.find(along=False)
    assert blamed(found) == [["PyTensor", "numba"]]
    assert Combined(new=["numba", "numpy", "other packages"], value=2) in found.combinations


def test_an_axis_that_does_most_of_it_did_it(world: World) -> None:
    def count(held: Held) -> int:
        return 34 * newer_numba(held) + (newer_numba(held) and held["pytensor"] == "3.3.1")

    world.count = count
    found = world.find(along=False)
    assert (found.high, blamed(found)) == (35, [["numba"]])


def test_equal_ends_take_no_combination(world: World) -> None:
    found = world.find()
    assert (found.low, found.high, found.causes, found.combinations) == (0, 0, [], [])
    assert len(world.taken) == 2


def test_an_end_without_a_value_is_refused(world: World) -> None:
    world.count = lambda held: None if newer_numba(held) else 0
    with pytest.raises(SubjectError, match="gave no cache_misses"):
        world.find()


def test_what_is_measured_for_it_is_no_level_of_the_history(world: World) -> None:
    world.count = lambda held: 4 if newer_numba(held) else 0
    world.find()
    assert not [one for one in load_all(world.session.results) if one.samples]


def test_a_wheel_in_the_place_of_a_release_has_no_releases_to_search(world: World) -> None:
    del world
    side = crossing.Side(subject(extras=("numba==0.68.0+whl.0a1b2c3d",)), {"numba": "0.68.0"})
    old = crossing.Side(subject(), {"numba": "0.66.0"})
    work = crossing._Work(SimpleNamespace(), crossing.Between(old, side), 0, 4)  # type: ignore[arg-type]
    assert work._releases("numba") == []
