"""Which of all searches are about a change."""

from __future__ import annotations

from typing import Any

import pytest

from observatory.store.records.alerts import Alert, SeriesChange
from observatory.store.records.found import Found
from observatory.text.culprits import headline
from observatory.text.document import spoken
from tests.factories import NOON, WARM
from tests.factories_crossings import crossed
from tests.factories_searches import BAD, COMMIT, GOOD, culprit, found

EARLIER = GOOD.model_copy(update={"label": "3.0.0", "commit": "0" * 40})


def alert(**changes: Any) -> Alert:
    """An alert between 3.0.0 and 3.0.2."""
    series = SeriesChange(
        machine="bench", env_name="e", benchmark=str(WARM), metric="cache_misses", unit="functions",
        kind="exact", before=0, after=4, last_good=EARLIER, first_bad=BAD, newest=BAD, holds=True,
    )  # fmt: skip
    own = {
        "id": "a" * 10, "kind": "more misses", "sentence": "", "last_good": EARLIER,
        "first_bad": BAD, "between": 0, "series": [series], "state": "new", "first_seen": NOON,
        "seen_with": NOON, "state_since": NOON,
    }  # fmt: skip
    return Alert(**{**own, **changes})


def test_a_package_is_told_of_the_range_and_of_the_neighbours_that_a_search_found() -> None:
    search = found(good=EARLIER, bad=BAD, culprits=[culprit(certainty="dependencies")])
    whole, inside = crossed(good=EARLIER, bad=BAD), crossed(good=GOOD, bad=BAD)
    everything = Found([search], [whole, inside])
    assert everything.of_change(alert()) == ([search], [whole, inside])
    assert Found([], [whole, inside]).of_change(alert()) == ([], [whole])
    assert everything.crossed(search, search.culprits[0])


@pytest.mark.parametrize(
    "changes", [{"metric": "files_leaked"}, {"good": EARLIER, "bad": GOOD}, {"finished": False}]
)
def test_what_is_of_something_else_or_not_over_tells_no_package(changes: Any) -> None:
    search = found(culprits=[culprit(certainty="dependencies")])
    assert not Found([search], [crossed(**changes)]).crossed(search, search.culprits[0])


MIDDLE = GOOD.model_copy(update={"label": "c0ffee", "commit": "c" * 40})


def test_commits_between_releases_within_the_range_of_an_alert_are_about_it() -> None:
    """The alert lies between two measured releases; a third one between them is the culprit."""
    releases = found(good=EARLIER, bad=BAD, culprits=[culprit(before=EARLIER, after=GOOD)])
    commits = found(
        good=EARLIER, bad=GOOD, within=(EARLIER, GOOD),
        culprits=[culprit(before=EARLIER, after=MIDDLE)],
    )  # fmt: skip
    merged = found(good=EARLIER, bad=MIDDLE, within=(EARLIER, MIDDLE), culprits=[])
    others = [
        commits.model_copy(update={"metric": "files_leaked"}),
        commits.model_copy(update={"within": (GOOD, BAD)}),
    ]
    every = [merged, *others, commits, releases]
    assert Found(every).of_change(alert()).searches == [releases, commits, merged]
    assert Found([commits, merged]).of_change(alert()).searches == []


def test_of_several_culprits_the_one_with_the_largest_share_of_its_search_is_named() -> None:
    large = culprit(low=3.0, high=21.0)
    small = culprit(low=20.0, high=21.0, commits=[])
    several = found(culprits=[small, large, small])
    assert spoken(headline(Found([several]))) == (
        "aaaaaaaaaaaa by Ada, confirmed, and 2 more changes"
    )
    assert spoken(headline(Found([found()]))) == "aaaaaaaaaaaa by Ada, confirmed"
    releases = found(good=EARLIER, culprits=[
        culprit(before=EARLIER, after=MIDDLE, low=0.0, high=90.0, commits=[]),
        culprit(commits=[]),
    ])  # fmt: skip
    inside = found(good=EARLIER, bad=MIDDLE, within=(EARLIER, MIDDLE), culprits=[large, small])
    both = spoken(headline(Found([releases, inside])))
    assert both == "aaaaaaaaaaaa by Ada, confirmed, and 2 more changes"


BOB = COMMIT.model_copy(update={"hash": "b" * 40, "author": "Bob"})


@pytest.mark.parametrize(
    "bob",
    [
        {"low": 4.0, "high": 90.0, "certainty": "not reproduced"},
        {"low": 4.0, "high": 90.0, "certainty": "not measured again"},
        {"low": 90.0, "high": 4.0},
    ],
)
def test_no_less_certain_change_and_no_improvement_is_named_before_a_confirmed_one(
    bob: dict[str, Any],
) -> None:
    searched = found(culprits=[culprit(commits=[BOB], **bob), culprit()])
    assert spoken(headline(Found([searched]))).startswith("aaaaaaaaaaaa by Ada, confirmed")


def test_the_sizes_of_two_metrics_are_not_compared() -> None:
    calls = found(metric="python_calls", culprits=[
        culprit(low=600_000.0, high=600_800.0),
        culprit(low=600_800.0, high=601_500.0, commits=[BOB]),
    ])  # fmt: skip
    misses = found(culprits=[culprit(low=0.0, high=35.0)])
    assert spoken(headline(Found([calls, misses]))) == (
        "aaaaaaaaaaaa by Ada, confirmed, and 2 more changes"
    )
    bobs = calls.model_copy(update={"culprits": calls.culprits[1:] * 2})
    assert spoken(headline(Found([bobs, misses]))).startswith("aaaaaaaaaaaa by Ada")


def test_a_search_that_found_only_an_improvement_names_nobody() -> None:
    assert headline(Found([found(culprits=[culprit(low=40.0, high=4.0)])])) == ()
