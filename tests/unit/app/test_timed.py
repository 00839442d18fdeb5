"""Searches along times, on simulated rounds. FOR TESTS ONLY: no value here was measured."""

from __future__ import annotations

import contextlib
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from math import log
from pathlib import Path

import pytest

from observatory.app import bisection, lost
from observatory.app.bisection import Sought, bisect
from observatory.app.session import Session
from observatory.app.timed import TimedProber
from observatory.benchmarks.catalogue import METRICS
from observatory.run.environments import NO_PINS
from observatory.run.together import Resolved, Together
from observatory.store.records.searches import Searched
from observatory.store.records.subject import Subject
from tests.factories import WARM, header, subject

DAY = header().subject.date
Change = tuple[int, float]
"""A place from which on the times have another factor."""


@dataclass
class Timed:
    """A history of times, measured on a machine that changes its speed and makes noise."""

    changes: Sequence[Change]
    count: int = 60
    noise: float = 0.05
    seed: int = 0
    broken: frozenset[int] = frozenset()
    rounds: Counter[int] = field(default_factory=Counter)
    kept: dict[int, list[float]] = field(default_factory=dict)
    """What was recorded, by place."""

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.subjects = [
            subject(f"c{number}", commit=f"{number:040x}", date=DAY + timedelta(days=number))
            for number in range(self.count)
        ]

    def level(self, place: int) -> float:
        made = 1.0
        for first, factor in self.changes:
            made *= factor if place >= first else 1.0
        return made

    def search(
        self, where: Path, patch: pytest.MonkeyPatch, rounds: float = float("inf")
    ) -> Searched:
        """Search, and stop after so many rounds as if the time were over."""
        history = self

        class Simulated(TimedProber):
            def _rounds(self, one: Subject) -> list[float]:
                if self.session.state.name == "again":
                    return []
                return list(history.kept.get(history.subjects.index(one), []))

            def saved(self, one: Subject) -> None:
                del one

            def packages(self, one: Subject) -> dict[str, str]:
                del one
                return {}

            @contextlib.contextmanager
            def _interleaving(
                self, one: Subject, pins: Mapping[str, str] = NO_PINS
            ) -> Iterator[Callable[[], float | None]]:
                del pins
                assert self.first is not None
                first, place = map(history.subjects.index, (self.first, one))
                again = self.session.state.name == "again"

                def take() -> float | None:
                    if place in history.broken:
                        return None
                    history.rounds[place] += 1
                    if history.rounds.total() >= rounds:
                        self.session.__dict__["deadline"] = 0.0
                    noise = history.random.gauss(0, history.noise * 2**0.5)
                    found = log(history.level(place) / history.level(first)) + noise
                    if not again:
                        history.kept.setdefault(place, []).append(found)
                    return found

                yield take

        def alike(_: Session, base: Subject, head: Subject) -> tuple[Together, str]:
            return Together(Resolved(base, {}), Resolved(head, {}), {}), ""

        patch.setattr(lost, "TimedProber", Simulated)
        patch.setattr(bisection, "alike", alike)
        session = Session("bisect", where / "results", where / "state", header().machine)
        return bisect(session, Sought(self.subjects, WARM, "compile_time"))


@pytest.fixture
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Searched]:
    def _found(history: Timed, rounds: float = float("inf")) -> Searched:
        return history.search(tmp_path, monkeypatch, rounds)

    return _found


def blamed(search: Searched) -> list[tuple[int, int, str]]:
    return [
        (int(one.before.commit, 16), int(one.after.commit, 16), one.certainty)
        for one in search.culprits
    ]


def test_the_change_is_found_and_confirmed(found: Callable[..., Searched]) -> None:
    history = Timed([(37, 1.2)])
    search = found(history)
    assert blamed(search) == [(36, 37, "confirmed")]
    (culprit,) = search.culprits
    assert culprit.low == pytest.approx(1.0, abs=0.1)
    assert culprit.high == pytest.approx(1.2, abs=0.1)
    assert search.measured <= 8


def test_what_got_faster_is_found_as_well(found: Callable[..., Searched]) -> None:
    assert blamed(found(Timed([(11, 0.7)]))) == [(10, 11, "confirmed")]


def test_equal_times_have_no_culprit(found: Callable[..., Searched]) -> None:
    history = Timed([])
    assert not found(history).culprits
    assert set(history.rounds) == {59}


def test_what_stops_in_the_middle_goes_on_with_the_rounds_that_it_has(
    found: Callable[..., Searched],
) -> None:
    history = Timed([(37, 1.2)])
    assert not found(history, rounds=20).finished
    taken = {place: len(rounds) for place, rounds in history.kept.items()}
    search = found(history)
    assert blamed(search) == [(36, 37, "confirmed")]
    assert taken[59] == len(history.kept[59])


def test_a_level_in_between_is_neither_end(found: Callable[..., Searched]) -> None:
    search = found(Timed([(20, 1.2), (40, 1.2)], noise=0.01))
    assert blamed(search) == [(19, 20, "confirmed"), (39, 40, "confirmed")]


def test_where_noise_hides_on_which_side_a_subject_is_it_is_named_and_not_blamed(
    found: Callable[..., Searched],
) -> None:
    history = Timed([(20, 1.2), (40, 1.2)], noise=0.3, seed=7)
    search = found(history)
    assert any(one.value is None for one in search.probes)
    assert any(one.skipped for one in search.culprits)
    for before, after, certainty in blamed(search):
        assert certainty != "confirmed" or history.level(before) != history.level(after)


def test_what_cannot_be_timed_is_passed_over(found: Callable[..., Searched]) -> None:
    search = found(Timed([(37, 1.3)], broken=frozenset({30, 36})))
    assert blamed(search) == [(35, 37, "confirmed")]


@pytest.mark.parametrize(("rounds", "looked"), [(11, False), (12, True), (13, False), (31, True)])
def test_the_ends_are_looked_at_twice_and_not_after_each_round(rounds: int, looked: bool) -> None:
    """Who looks after each round finds what chance makes."""
    session = Session("bisect", Path("results"), Path("state"), header().machine)
    prober = TimedProber(session, WARM, METRICS["compile_time"])
    prober._look_at_the_ends([0.2 + number / 1000 for number in range(rounds)])
    assert (prober.ratio is not None) is looked


def test_on_a_noisy_machine_nothing_is_blamed_falsely(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rounds vary by 14 %, the change is 20 %: three in four are on the right side."""
    told = Counter[str]()
    for seed in range(60):
        place = random.Random(seed).randint(1, 59)
        history = Timed([(place, 1.2)], noise=0.1, seed=seed)
        search = history.search(tmp_path / str(seed), monkeypatch)
        for before, after, certainty in blamed(search):
            where = "right" if before < place <= after else "wrong"
            told[f"{where}, {certainty}"] += 1
        told["none"] += not search.culprits
        told["rounds"] += history.rounds.total()
    print(dict(told))
    assert told["wrong, confirmed"] == 0
    assert told["right, confirmed"] > 40
