"""What searches found about changes: `observatory bisect` and `observatory cross`."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from observatory.store.records import crossings, searches
from observatory.store.records.alerts import Change
from observatory.store.records.crossings import Crossed
from observatory.store.records.searches import Searched


class Found(NamedTuple):
    """Searches, and those of them that are about one change."""

    searches: Sequence[Searched] = ()
    """For the subject that made it."""
    crossings: Sequence[Crossed] = ()
    """For the package, or the Python, that made it."""

    def of_change(self, change: Change) -> Found:
        """Those for what made this change, each kind in the order in which it is told."""
        return Found(
            searches.of_change(self.searches, change),
            sorted(
                (one for one in self.crossings if one.is_of(change)), key=attrgetter("taken_at")
            ),
        )


NOTHING = Found()


def known(results: Path) -> Found:
    """Everything of a results directory that can be read."""
    return Found(
        searches.known(results),
        [one for one in crossings.load_all(results) if isinstance(one, Crossed)],
    )
