"""`observatory bisect` as a user calls it; nothing is measured."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from observatory.analyze.history.suspects import Commit
from observatory.app.bisection import Bisected, Culprit
from observatory.benchmarks.catalogue import Cell
from observatory.errors import Exit
from observatory.run.commits import Range
from tests.command import observatory
from tests.factories import WARM, subject

GOOD, BAD = subject("3.0.1"), subject("3.0.2")
COMMIT = Commit(
    "a" * 40, "Ada", datetime(2026, 5, 4, tzinfo=UTC), "A new key", 77, ("pytensor/a.py", "b.py")
)


def culprit(**changes: Any) -> Culprit:
    own = {
        "before": GOOD, "after": BAD, "low": 0.0, "high": 4.0, "skipped": (), "again": (0.0, 4.0),
        "confirmed": True, "dependencies": {}, "commits": Range((COMMIT,)),
    }  # fmt: skip
    return Culprit(**{**own, **changes})


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """The searches that were asked for; each finds one culprit."""
    searches: list[tuple[Any, ...]] = []

    def bisect(_: object, subjects: Any, cell: Cell, metric: str, *more: object) -> Bisected:
        searches.append(([one.label for one in subjects], cell, metric, *more))
        return Bisected(cell, metric, (GOOD, BAD), {0: 0.0, 1: 4.0}, 2, (culprit(),))

    monkeypatch.setattr("observatory.cli.commands.bisect.bisect", bisect)
    return searches


def test_releases_are_searched_and_the_culprit_is_told(asked: list[tuple[Any, ...]]) -> None:
    done = observatory("bisect", "3.3.6", "3.3.8", "--cell", str(WARM))
    assert done.returncode == Exit.OK, done.stderr
    ((labels, cell, metric, clone, confirm),) = asked
    assert (labels[0], labels[-1], cell, metric) == ("3.3.6", "3.3.8", WARM, "cache_misses")
    assert (clone, confirm) == (None, True)
    assert "3.0.1 → 3.0.2: 0 → 4, confirmed" in done.stdout
    assert "aaaaaaaaaaaa Ada 2026-05-04: A new key (#77)" in done.stdout
    assert "pytensor/a.py, b.py" in done.stdout


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"again": None, "confirmed": False}, "not measured again"),
        ({"again": (0.0, 0.0), "confirmed": False}, "not reproduced"),
        (
            {"again": (0.0, 0.0), "confirmed": False, "dependencies": {"numba": ("1", "2")}},
            "not reproduced with equal dependencies: one of those below changed it",
        ),
        ({"again": (0.0, None), "confirmed": False}, "a side could not be measured again"),
    ],
)
def test_what_is_not_certain_is_said(
    asked: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch, changed: Any, told: str
) -> None:
    del asked
    found = Bisected(WARM, "cache_misses", (GOOD, BAD), {0: 0.0, 1: 4.0}, 2, (culprit(**changed),))
    monkeypatch.setattr("observatory.cli.commands.bisect.bisect", lambda *_: found)
    done = observatory("bisect", "3.3.6", "3.3.8", "--cell", str(WARM))
    assert told in done.stdout
    said = json.loads(observatory("bisect", "3.3.6", "3.3.8", "--cell", str(WARM), "--json").stdout)
    assert told in said[0]["culprits"][0]["certainty"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("3.3.6", "3.3.8"), "is not a cell"),
        (("3.3.6", "3.3.8", "3.3.9"), "give the id of one alert, or two ends"),
        (("main", "topic", "--cell", str(WARM)), "name their clone with --repo"),
        (("3.3.6", "3.3.8", "--cell", str(WARM), "--metric", "speed"), "no metric 'speed'"),
        (("0123456789",), "has no alert '0123456789'"),
    ],
)
def test_what_is_not_understood_is_told(words: tuple[str, ...], told: str, tmp_path: Path) -> None:
    done = observatory("bisect", *words, "--results", tmp_path)
    assert done.returncode == Exit.USAGE
    assert told in done.stderr
