"""Fetching from the workers' machines what they recorded and nobody has asked for."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection
from pathlib import Path

from observatory.fleet import worker as remote
from observatory.fleet.crew import Crew
from observatory.run import spool
from observatory.run.fleets import FleetError
from observatory.run.spool import Spool
from observatory.store.base.problems import RecordError
from observatory.text.words import several


def fetch_left(crew: Crew, state: Path) -> None:
    """Merge what dead sessions of the directory STATE left on the workers' machines."""
    for name, owner in spool.left_behind(state):
        try:
            spool.check(owner)
            fetched = fetch(crew, state, name, owner.results, owner.given_up)
        except (OSError, RecordError) as error:
            crew.say(spool.not_fetched(state, name, owner, error))
            continue
        if not set(owner.elsewhere) <= crew.sites.keys():
            if fetched:
                Spool.of(state, name).remove()
            crew.say(
                f"samples of an interrupted run for {owner.results} may lie on machines that "
                "take no part now; a run with them fetches these samples"
            )
        elif fetched:
            spool.forget(state, name)


def fetch(
    crew: Crew,
    state: Path,
    session: str,
    results: Path | None,
    accepted: Collection[str],
    owes: Callable[[str], bool] = lambda _: True,
) -> bool:
    """Merge what a session recorded and nobody has accepted; return whether that was all.

    ``accepted``: the keys of samples that are in a journal, or of no use. ``owes``: whether a place
    may have recorded any other. A machine that is lost and owes none is not missed. Raises OSError
    and RecordError.
    """
    left, complete = list[bytes](), True
    for name, site in crew.sites.items():
        if site.place.home:
            found = Spool.of(state, session).records()
        else:
            try:
                found = crew.ask(name, remote.recorded, session, name)
            except FleetError as error:
                if owes(name):
                    crew.say(str(error))
                    complete = False
                continue
        left += [content for key, content in found.items() if key not in accepted]
    if left:
        count, problems = spool.merge(left, results)
        complete = complete and not problems
        for problem in problems:
            crew.say(problem)
        if count:
            crew.say(f"fetched from workers: {several(count, 'sample')} that they had recorded")
    if complete:
        clear(crew, session)
    return complete


def clear(crew: Crew, session: str, caches: str = "") -> None:
    """Remove what a session recorded on other machines, or the filled caches of this name."""
    for name, site in crew.sites.items():
        if not site.place.home:
            with contextlib.suppress(FleetError):  # it is lost, and all of it with it
                crew.ask(name, remote.clear, session, name, caches)
