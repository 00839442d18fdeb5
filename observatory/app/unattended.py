"""Searches for what made each alert that waits, one after another, without a person."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

from observatory.app.searching import Searcher, of_packages, range_of, revision
from observatory.app.wanted import cost, searchable_series, wanted_of
from observatory.errors import ObservatoryError
from observatory.run.git import Git
from observatory.store.base.problems import RecordError
from observatory.store.base.releases import TAGGED, is_release
from observatory.store.records import alerts as alerts_record
from observatory.store.records import found as found_record
from observatory.store.records.alerts import Alert, At
from observatory.store.records.crossings import Crossed
from observatory.store.records.searches import Searched
from observatory.text.words import several


def search_open(searcher: Searcher) -> Iterator[Searched | Crossed]:
    """Search for the culprit of every alert that waits and has none yet.

    Counts come first, and of these the quickest to measure. An alert whose search cannot be carried
    out is named, and the others go on. Stops when the time of the session is over.
    """
    session = searcher.session
    file = alerts_record.load(session.results)
    waiting = [] if file is None else file.needing()

    def over(alert: Alert) -> bool:
        return searched(session.results, alert, commits=searcher.repo is not None)

    counted = not session.uncounted()
    left = sorted(
        (one for one in waiting if searchable_series(one) and not over(one)),
        key=lambda one: cost(one, counted),
    )
    session.say(f"{several(len(left), 'alert')} to search for")
    for place, alert in enumerate(left):
        if time.monotonic() > session.deadline:
            session.say(f"the time is over before {several(len(left) - place, 'alert')}", "warning")
            return
        if over(alert):
            continue  # by the search for another one
        wanted = wanted_of(alert, counted)
        if searcher.repo is None and range_of(wanted.good, wanted.bad) is None:
            session.say(f"alert {alert.id}: its commits need --repo", "warning")
            continue
        try:
            yield from searcher.search(wanted)
        except RecordError:
            raise
        except ObservatoryError as error:
            session.say(f"alert {alert.id}: {error}", "warning")


def open_ranges(results: Path, repo: Path) -> list[tuple[str, str]]:
    """The last good and the first bad commit of each alert that waits, as it was found last.

    ``repo``: a clone, whose tags say which commits releases are.
    """
    git = Git(repo)

    def commit(at: At) -> str:
        ref, _ = revision(at.label)
        return (git.resolved(ref) if ref.startswith(TAGGED) else None) or at.commit

    with contextlib.suppress(RecordError):  # whoever finds alerts reports it
        if found := alerts_record.load(results):
            return [
                (commit(one.last_good), commit(one.first_bad))
                for one in found.needing()
                if one.last_good
            ]
    return []


def searched(results: Path, alert: Alert, commits: bool = True) -> bool:
    """Whether a finished search was about this alert, and one for each package that it is due to.

    ``commits``: whether a search along releases has to have gone on with their commits.
    """
    known = found_record.known(results).of_change(alert)
    found = known.searches
    if not found or not all(one.finished for one in found):
        return False
    if not all(known.crossed(one, each) for one in found for each in of_packages(one)):
        return False
    good = alert.last_good
    releases = good is not None and is_release(good.label.partition(" ")[0])
    named = any(one.within is not None for one in found)
    return named or not (commits and releases) or not any(one.culprits for one in found)
