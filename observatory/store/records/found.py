"""What searches found about changes: `observatory bisect` and `observatory cross`."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from observatory.store.records import crossings, searches
from observatory.store.records.alerts import Change
from observatory.store.records.crossings import Crossed
from observatory.store.records.searches import Culprit, Searched


class Found(NamedTuple):
    """Searches, and those of them that are about one change."""

    searches: Sequence[Searched] = ()
    """For the subject that made it."""
    crossings: Sequence[Crossed] = ()
    """For the package, or the Python, that made it."""

    def of_change(self, change: Change) -> Found:
        """Those for what made this change, each kind in the order in which it is told."""
        own = searches.of_change(self.searches, change)
        crossed = [
            one
            for one in self.crossings
            if one.is_of(change) or any(_is_of_culprit(one, search) for search in own)
        ]
        return Found(own, sorted(crossed, key=attrgetter("taken_at")))

    def crossed(self, search: Searched, culprit: Culprit) -> bool:
        """Whether a finished search tells which package made the change at a culprit."""
        only = search.model_copy(update={"culprits": [culprit]})
        return any(one.finished and _is_of_culprit(one, only) for one in self.crossings)


NOTHING = Found()


def _is_of_culprit(crossed: Crossed, search: Searched) -> bool:
    """Whether it is about the same value, between two neighbours that a search found."""
    places = {(one.before.commit, one.after.commit) for one in search.culprits}
    same = (crossed.cell, crossed.metric) == (search.cell, search.metric)
    return same and crossed.ends in places


def known(results: Path) -> Found:
    """Everything of a results directory that can be read."""
    return Found(searches.readable(results), crossings.readable(results))
