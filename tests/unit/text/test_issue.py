"""An alert as an issue: what a person reads, and that nothing in it is obeyed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observatory.store.records.alerts import Acknowledgement, Alert, At, SeriesChange
from observatory.store.records.comparison import Cause
from observatory.store.records.crossings import Combined, CrossedAxis, CrossedCause
from observatory.store.records.found import Found
from observatory.store.records.searches import BlamedCommit
from observatory.text.comment import MARKER
from observatory.text.issue import issue_text, issue_title
from tests.factories_comparison import functions
from tests.factories_crossings import along, crossed
from tests.factories_searches import culprit, found
from tests.gfm import problems
from tests.hostile_comparisons import FRAGMENTS, HOSTILE

DAY = datetime(2026, 11, 20, tzinfo=UTC)


def at(label: str = "3.3.7", **changes: Any) -> At:
    return At(**{"label": label, "commit": "c" * 40, "date": DAY} | changes)


def series(number: int = 0, **changes: Any) -> SeriesChange:
    fields = {
        "machine": "bench", "env_name": "observatory-py3.13", "metric": "cache_misses",
        "benchmark": f"radon warm_disk NUMBA spawn {number}", "unit": "functions", "kind": "exact",
        "before": 0, "after": 35, "last_good": at("3.3.4"), "first_bad": at(), "newest": at(),
        "holds": True,
    }  # fmt: skip
    return SeriesChange.model_validate(fields | changes)


def alert(**changes: Any) -> Alert:
    fields = {
        "id": "3d032b8ecd", "kind": "keys differ between processes", "between": 2,
        "sentence": "35 functions miss: the outer graph, Elemwise and 33 more",
        "last_good": at("3.3.4"), "first_bad": at(), "series": [series()],
        "functions": functions("Elemwise", "Dot"), "state": "new", "first_seen": DAY,
        "seen_with": DAY, "state_since": DAY,
    }  # fmt: skip
    return Alert.model_validate(fields | changes)


def plain(text: str) -> list[str]:
    """What GitHub would obey in the text."""
    return problems(f"{MARKER}\n{text}")


def test_the_title_says_what_and_since_when() -> None:
    assert issue_title(alert()) == (
        "Keys differ between processes, since 3.3.7 (last good 3.3.4, 2 subjects in between "
        "not measured)"
    )


def test_the_text_has_the_evidence_and_the_next_step() -> None:
    text = issue_text(alert(), "https://example.org/alerts/3d032b8ecd.html")
    assert text.startswith("35 functions miss: the outer graph, Elemwise and 33 more.\n\n[All")
    assert "(https://example.org/alerts/3d032b8ecd.html)" in text
    assert "**Last good**: `3.3.4` of 20 November 2026, commit `cccccccccc`, 2 subjects" in text
    assert "0 → 35" in text
    assert "`Elemwise`" in text
    assert 'observatory ack 3d032b8ecd --why "..." --until 2w' in text
    assert plain(issue_text(alert())) == []


def test_what_changes_every_night_changes_no_issue() -> None:
    tonight = series(now=36.0, newest=at("3.3.9", date=DAY + timedelta(days=9)))
    assert issue_text(alert(series=[tonight], state="open")) == issue_text(alert())


@pytest.mark.parametrize("state", ["acknowledged", "expired"])
def test_who_acknowledged_it_is_said(state: str) -> None:
    said = Acknowledgement(id="3d032b8ecd", who="Ada", why="Fixed upstream", at=DAY, until=DAY)
    text = issue_text(alert(state=state, acknowledged=said))
    assert "acknowledged by `Ada` until" in text
    assert ("is acknowledged" in text) == (state == "acknowledged")


def test_what_is_over_says_since_when_and_asks_for_nothing() -> None:
    text = issue_text(alert(state="resolved", resolution="it has been over since 3.3.8"))
    assert "**Resolved**: It has been over since" in text
    assert "observatory ack" not in text


@pytest.mark.parametrize(
    "page", ["javascript:alert(1)", "https://x/ (y)", "https://x/<b>", "x", ""]
)
def test_an_address_that_is_none_is_no_link(page: str) -> None:
    assert issue_text(alert(), page) == issue_text(alert())


@given(HOSTILE, HOSTILE)
def test_nothing_that_an_alert_holds_is_obeyed(text: str, other: str) -> None:
    said = Acknowledgement(id="3d032b8ecd", who=text, why=other, at=DAY, until=DAY)
    made = alert(
        kind=text, sentence=other, about=text, notes=[other, text], resolution=other,
        first_bad=at(text, commit=other[:100]), last_good=at(other), acknowledged=said,
        series=[series(machine=text, benchmark=other, metric=text, unit=other)],
        functions=functions(text, other), state="expired",
    )  # fmt: skip
    assert plain(issue_text(made)) == []
    title = issue_title(made)
    assert title.isprintable()
    assert 0 < len(title) <= 200


@pytest.mark.parametrize("piece", ["a", "`", "|", "@x ", "<b>", *FRAGMENTS[:8]])
def test_an_alert_of_everything_is_short_enough(piece: str) -> None:
    word, text = (piece * 200)[:200], (piece * 4000)[:4000]
    many = [series(n, machine=word, benchmark=text, metric=word) for n in range(300)]
    made = alert(
        sentence=text, about=text, notes=[text] * 100, resolution=text, series=many,
        functions=functions(*[word] * 500), first_bad=at(word, commit=word[:100]),
        last_good=at(word), kind=word,
    )  # fmt: skip
    assert len(issue_text(made)) < 64_000
    assert "and 280 more" in issue_text(made)


def test_the_culprit_comes_first_and_what_the_search_found_is_folded() -> None:
    text = issue_text(alert(), None, Found([found()]))
    assert text.split("\n\n")[1] == "**Culprit**: `aaaaaaaaaaaa` by `Ada`, confirmed."
    folded = text.partition("<details><summary>What a search found</summary>")[2]
    assert "`cache_misses` of `radon warm_disk NUMBA fork`, `3.0.1` to `3.0.2`" in folded
    assert "`3.0.1` → `3.0.2`: 0 → 4, confirmed" in folded
    assert plain(text) == []
    unsure = found(culprits=[culprit(certainty="half measured again", commits=[])])
    assert "**Culprit**: `3.0.2`, not confirmed." in issue_text(alert(), None, Found([unsure]))
    assert "Culprit" not in issue_text(alert(), None, Found([found(culprits=[])]))
    wide = culprit(certainty="not measured again", commits=culprit().commits * 11)
    text = issue_text(alert(), None, Found([found(culprits=[wide])]))
    # Between two releases no list tells who it was.
    assert "one of the 11 commits in between" in text
    assert "Ada" not in text


@pytest.mark.parametrize("piece", ["@name ", "| `x` ", "<b> ", "word_"])
def test_no_search_makes_an_issue_too_long_or_is_obeyed(piece: str) -> None:
    word, long = (piece * 200)[:200], (piece * 4000)[:4000]
    commit = BlamedCommit(hash=word[:100], author=long, date=DAY, title=long, files=[long] * 50)
    cause = Cause(id="c", kind="x", sentence=long, cells=[])
    one = culprit(
        before=at(word), after=at(word), skipped=[word] * 200, commits=[commit] * 50,
        dependencies={f"{n}{word}"[:200]: (word, word) for n in range(99)}, causes=[cause] * 50,
    )  # fmt: skip
    text = issue_text(alert(), None, Found([found(culprits=[one] * 50)]))
    assert len(text) < 64_000
    assert plain(text) == []


def test_a_package_that_did_it_is_the_culprit_where_no_commit_is_confirmed() -> None:
    text = issue_text(alert(), None, Found((), [crossed()]))
    assert text.split("\n\n")[1] == "**Culprit**: `numba 0.66.0 → 0.68.0`."
    folded = text.partition("<details><summary>PyTensor, or another package?</summary>")[2]
    assert "`numba` did it: if only it is new, the value is 4" in folded
    assert plain(text) == []
    moved = found(culprits=[culprit(certainty="dependencies")])
    assert "**Culprit**: `numba" in issue_text(alert(), None, Found([moved], [crossed()]))
    assert "**Culprit**: `aaaa" in issue_text(alert(), None, Found([found()], [crossed()]))
    both = crossed(causes=[CrossedCause(axes=["PyTensor", "numpy"])])
    text = issue_text(alert(), None, Found((), [both]))
    assert "`PyTensor 3.0.1 → 3.0.2` and `numpy 2.4.6 → 2.5.4`, only together." in text


@pytest.mark.parametrize("piece", ["@name ", "| `x` ", "<b> ", "word_"])
def test_no_crossing_makes_an_issue_too_long_or_is_obeyed(piece: str) -> None:
    word, long = (piece * 200)[:200], (piece * 4000)[:4000]
    names = [f"{n}{word}"[:200] for n in range(30)]
    one = crossed(
        axes=[CrossedAxis(name=name, versions={name: (word, word)}) for name in names],
        combinations=[Combined(new=names[: n % 30], value=None, why=long) for n in range(900)],
        causes=[CrossedCause(axes=names, untried=[names] * 30)] * 50, along=[along()] * 50,
        good=at(word), bad=at(word),
    )  # fmt: skip
    text = issue_text(alert(), None, Found((), [one] * 9))
    assert len(text) < 64_000
    assert plain(text) == []


@given(st.text(max_size=200))
def test_any_kind_makes_a_title(kind: str) -> None:
    assert issue_title(alert(kind=kind)).strip()
