"""The commits in the ranges of alerts, from a clone of the measured project."""

from __future__ import annotations

from pathlib import Path

from observatory.analyze.history.suspects import SuspectedRange, names_in, ranked
from observatory.run.commits import commits_between, definitions
from observatory.run.git import Git
from observatory.store.records.alerts import Alert, Alerts
from observatory.text.alerts import with_page
from observatory.text.forge import ref_of


def suspected_ranges(clone: Path | None, alerts: Alerts) -> dict[str, SuspectedRange]:
    """By alert the commits of its range, ranked; or why there are none. Raises GitError."""
    if clone is None:
        absent = SuspectedRange(absent="no clone was given; build the pages with `observatory "
                                       "dashboard --repo CLONE`")  # fmt: skip
        return {one.id: absent for one in with_page(alerts) if one.last_good}
    git = Git(clone)
    return {one.id: _suspected(git, one) for one in with_page(alerts) if one.last_good}


def _suspected(git: Git, alert: Alert) -> SuspectedRange:
    good, bad = (ref_of(at.label, at.commit) for at in (alert.last_good, alert.first_bad) if at)
    if not good or not bad:
        return SuspectedRange(absent="one of the two subjects is no commit and no release")
    found = commits_between(git, good, bad)
    if found.absent:
        return SuspectedRange(absent=found.absent)
    known = definitions(git, bad, names_in(alert))
    return SuspectedRange(tuple(ranked(alert, found.commits, known)))
