"""Alerts on parts of builds, from real profiles: `observatory alerts` reads them from a directory.

What is changed in a copy of the committed results is one rewriter, of a thousandth of the build.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from observatory import app
from observatory.analyze.history.part_changes import PART
from observatory.app.observed import site_data
from observatory.store.records import triage
from observatory.store.records.alerts import Acknowledgement, Alert
from observatory.store.records.profile import Profile
from tests.factories_parts import copied, doubled

pytestmark = pytest.mark.long

REWRITER = "local_dimshuffle_subtensor"
BEFORE, AT, AFTER = "2.38.2", "2.38.3", "3.3.8"  # all of them trace the same cells


def same(profile: Profile) -> Profile:
    return profile


def twice(profile: Profile) -> Profile:
    return doubled(profile, REWRITER)


def of_parts(results: Path) -> list[Alert]:
    return [one for one in app.alerts(results, save=True) if one.kind == PART]


def test_a_rewriter_of_a_thousandth_of_the_build_that_doubles_is_an_alert(tmp_path: Path) -> None:
    results = copied(tmp_path, {BEFORE: same, AT: twice})
    (alert,) = of_parts(results)
    assert alert.last_good is not None
    assert (alert.last_good.label, alert.first_bad.label, alert.state) == (BEFORE, AT, "new")
    assert alert.sentence == (
        "the total number of calls is as before, but "
        "`local_dimshuffle_subtensor` made 796 calls, now 1,592 (+0.11 % of all calls, in "
        "radon warm_disk C fork and 11 more cells)"
    )
    assert {(one.metric, one.before, one.after) for one in alert.series} == {
        (f"python_calls in {REWRITER}", 796, 1592)
    }
    # The page has the same alert: it is found once, and kept.
    site, _ = site_data([results])
    assert alert.id in {one.id for one in site.alerts.alerts}


def test_it_waits_for_a_person_until_the_rewriter_does_less_again(tmp_path: Path) -> None:
    results = copied(tmp_path, {BEFORE: same, AT: twice})
    (new,) = of_parts(results)
    copied(results, {AFTER: twice})
    now = datetime.now(UTC)
    until = now + timedelta(days=7)
    triage.add(results, Acknowledgement(id=new.id, who="Ada", why="known", at=now, until=until))
    (still,) = of_parts(results)
    assert (still.id, still.first_seen) == (new.id, new.first_seen)
    assert still.state == "acknowledged"
    assert AFTER in {one.newest.label for one in still.series}
    assert all(one.holds for one in still.series)
    copied(results, {AFTER: same})
    (over,) = of_parts(results)
    assert (over.id, over.state) == (new.id, "resolved")
    assert over.resolution == f"it has been over since {AFTER}"


@pytest.mark.parametrize("change", [same, twice])
def test_between_two_releases_that_do_the_same_no_part_is_an_alert(
    tmp_path: Path, change: Callable[[Profile], Profile]
) -> None:
    assert of_parts(copied(tmp_path, {BEFORE: change, AT: change})) == []
