"""`observatory bisect` as a user calls it; nothing is measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from observatory.app.bisection import Sought
from observatory.errors import Exit
from observatory.store.records.searches import Probe, Searched
from tests.command import observatory
from tests.factories import WARM
from tests.factories_crossings import crossed
from tests.factories_searches import BAD, GOOD, culprit, found


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Sought]:
    """The searches that were asked for; each finds one culprit."""
    searches: list[Sought] = []

    def bisect(_: object, sought: Sought) -> Searched:
        searches.append(sought)
        return found()

    monkeypatch.setattr("observatory.app.searching.bisect", bisect)
    return searches


def search(*more: str) -> str:
    done = observatory("bisect", "3.3.6", "3.3.8", "--cell", str(WARM), *more)
    assert done.returncode == Exit.OK, done.stderr
    return done.stdout


def test_releases_are_searched_and_the_culprit_is_told(asked: list[Sought]) -> None:
    told = " ".join(search().split())
    (sought,) = asked
    labels = [one.label for one in sought.subjects]
    assert (labels[0], labels[-1], sought.cell) == ("3.3.6", "3.3.8", WARM)
    assert (sought.metric, sought.clone, sought.confirm) == ("cache_misses", None, True)
    assert "3.0.1 to 3.0.2: 2 subjects, 2 with a value, 2 subjects measured in 90.0 s" in told
    assert "3.0.1 → 3.0.2: 0 → 4, confirmed" in told
    assert "aaaaaaaaaaaa Ada 2026-05-04: A new *key* (pull request 77): pytensor/a.py, b.py" in told
    assert "Keys differ." in told


def test_markdown_shows_no_text_as_markup_and_json_is_the_record(asked: list[Sought]) -> None:
    del asked
    assert "`aaaaaaaaaaaa` `Ada` `2026-05-04`: `A new *key*` (pull request `77`)" in search(
        "--markdown"
    )
    assert Searched.model_validate(json.loads(search("--json"))[0]) == found()


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"certainty": "not measured again"}, "0 → 4, found, but not measured a second time"),
        ({"certainty": "not reproduced"}, "0 → 4, not reproduced"),
        ({"certainty": "half measured again"}, "a side could not be measured again"),
        (
            {"certainty": "dependencies", "dependencies": {"numba": ("1", "2")}},
            "not reproduced with equal dependencies: a dependency made the change",
        ),
        ({"dependencies": {"numba": ("1", "2")}}, "changed at the same time: numba 1 → 2"),
        (
            {"certainty": "dependencies", "dependencies": {"numba": ("1", "2")}},
            "observatory cross finds out which of them caused it",
        ),
        (
            {"skipped": ["3.0.5", "3.0.6"]},
            "could not be measured, and may have made the change: 3.0.5 and 3.0.6",
        ),
    ],
)
def test_what_is_not_certain_is_said(
    monkeypatch: pytest.MonkeyPatch, changed: Any, told: str
) -> None:
    def bisect(_: object, sought: Sought) -> Searched:
        sides = zip(("before", "after"), (GOOD, BAD), sought.subjects, strict=False)
        ends = {name: at.model_copy(update={"commit": one.commit}) for name, at, one in sides}
        return found(culprits=[culprit(**ends, **changed)])

    monkeypatch.setattr("observatory.app.searching.bisect", bisect)
    monkeypatch.setattr("observatory.app.searching.cross", lambda *_: crossed())
    said = search()
    assert told in said
    assert ("numba did it: if only it is new" in said) == (
        changed.get("certainty") == "dependencies"
    )


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (
            {"probes": [Probe(at=GOOD, value=4), Probe(at=BAD, value=4)]},
            "The value is the same at both ends",
        ),
        ({"finished": False}, "The time ended before a culprit was found"),
        (
            {
                "metric": "python_calls",
                "probes": [
                    Probe(at=GOOD, value=600_000),
                    Probe(at=BAD, value=607_238),
                ],
            },
            "The value changes from 600,000 to 607,238 little by little",
        ),
    ],
)
def test_a_search_without_a_culprit_says_why(
    monkeypatch: pytest.MonkeyPatch, changed: Any, told: str
) -> None:
    monkeypatch.setattr(
        "observatory.app.searching.bisect", lambda *_: found(culprits=[], **changed)
    )
    assert told in search()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("3.3.6", "3.3.8"), "is not a cell"),
        (("3.3.6", "3.3.8", "3.3.9"), "give the id of one alert, or two subjects"),
        (("main", "topic", "--cell", str(WARM)), "name their clone with --repo"),
        (("3.3.6", "3.3.8", "--cell", str(WARM), "--metric", "speed"), "no metric 'speed'"),
        (("0123456789",), "no alert with an id that begins with '0123456789'"),
        ((), "give the id of one alert, or two subjects: GOOD BAD; or --open"),
        (("3.3.6", "3.3.8", "--open"), "name no subjects, --cell, --graph or --metric"),
        (("--open", "--metric", "compile_time"), "name no subjects, --cell, --graph or --metric"),
        (("--open", "--budget", "soon"), "'soon'"),
    ],
)
def test_what_is_not_understood_is_told(words: tuple[str, ...], told: str, tmp_path: Path) -> None:
    done = observatory("bisect", *words, "--results", tmp_path)
    assert done.returncode == Exit.USAGE
    assert told in done.stderr
