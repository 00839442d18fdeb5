"""A hundred searches on simulated histories. FOR TESTS ONLY: no value here was measured.

A history has up to four changes, some of which are reverted; commits that do not build, accidents
in the first measurement, and a dependency that changes on the way. Nothing may be blamed falsely.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest

from observatory.app import bisection, lost
from observatory.app.bisection import Sought, bisect
from observatory.app.probing import Prober
from observatory.app.session import Session
from observatory.run.environments import NO_PINS
from observatory.run.together import Resolved, Together
from observatory.store.records.searches import Searched
from observatory.store.records.subject import Subject
from tests.factories import WARM, header, subject

SEARCHES = 100
DAY = header().subject.date


@dataclass
class History:
    """What every subject of a history really gives, and how it is measured."""

    seed: int
    random: random.Random = field(init=False)
    measured: Counter[tuple[str, int]] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        one = self.random = random.Random(self.seed)
        count = one.randint(2, 150)
        self.subjects = [
            subject(f"c{number}", commit=f"{number:040x}", date=DAY + timedelta(days=number))
            for number in range(count)
        ]
        self.metric = one.choice(["cache_misses", "python_calls"])
        level, value = 1000, 1000
        self.truth = [level]
        places = {one.randint(1, count - 1) for _ in range(one.randint(1, 4))}
        for number in range(1, count):
            if number in places:
                revert = value != level and one.random() < 0.4
                value = level if revert else value + one.choice([-300, -50, 50, 120, 700])
            self.truth.append(value)
        broken = one.choice([0.0, 0.05, 0.2])
        self.broken = {n for n in range(1, count - 1) if one.random() < broken}
        self.accident = one.choice([0.0, 0.0, 0.03])
        self.newer = one.randint(1, count) if one.random() < 0.25 else count
        """From here on, a newer dependency adds to the value."""
        self.later = 0

    def value(self, number: int, again: bool) -> float | None:
        self.measured["again" if again else "first", number] += 1
        if number in self.broken:
            return None
        value = float(self.truth[number])
        # The second time, both sides have the dependencies of the later one.
        value += 40 * ((self.later if again else number) >= self.newer)
        if not again:
            value += 90 * (self.random.random() < self.accident)
        if self.metric == "python_calls":
            value *= 1 + self.random.gauss(0, 0.0004)
        return value

    def search(self, where: Path, patch: pytest.MonkeyPatch) -> Searched:
        history = self

        class Simulated(Prober):
            def recorded(self, subjects: Sequence[Subject]) -> dict[int, float | None]:
                del subjects
                return {}

            def value(self, one: Subject, pins: Mapping[str, str] = NO_PINS) -> float | None:
                del pins
                self.taken += 1
                again = self.session.state.name == "again"
                return history.value(history.subjects.index(one), again)

            def packages(self, one: Subject) -> dict[str, str]:
                newer = history.subjects.index(one) >= history.newer
                return {"numba": "0.68.0" if newer else "0.66.0"}

            def saved(self, one: Subject) -> None:
                del one

            def prepare(self, one: Subject) -> None:
                del one

        def alike(_: Session, base: Subject, head: Subject) -> tuple[Together, str]:
            history.later = history.subjects.index(head)
            return Together(Resolved(base, {}), Resolved(head, {}), {}), ""

        patch.setattr(lost, "Prober", Simulated)
        patch.setattr(bisection, "alike", alike)
        session = Session("bisect", where / "results", where / "state", header().machine)
        return bisect(session, Sought(self.subjects, WARM, self.metric))

    def number(self, commit: str) -> int:
        return int(commit, 16)


def test_nothing_is_blamed_falsely_and_few_searches_are_left_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Counter[str]()
    for seed in range(SEARCHES):
        history = History(seed)
        found = history.search(tmp_path / str(seed), monkeypatch)
        blamed = [one for one in found.culprits if one.certainty == "confirmed"]
        for one in blamed:
            before, after = history.number(one.before.commit), history.number(one.after.commit)
            assert history.truth[before] != history.truth[after], (seed, one)
            assert len(one.skipped) == after - before - 1, (seed, one)
            if not one.skipped:
                told["single commit"] += 1
        told["culprits"] += len(blamed)
        first, last = history.truth[0], history.truth[-1]
        told["changed"] += first != last
        told["found"] += first != last and bool(blamed)
        told["measured"] += found.measured
        told["subjects"] += found.subjects
        assert max(n for (which, _), n in history.measured.items() if which == "first") == 1
    print(dict(told))
    assert told["found"] == told["changed"] > SEARCHES / 2
    assert told["measured"] < told["subjects"] / 3
