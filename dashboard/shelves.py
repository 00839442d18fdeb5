"""Which data file a series is in: the file is named by the first digits of the series' id.

One file for each series would be tens of thousands, and one for all too large to load. So a file
that would be too large is split by one more digit, and only there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

MOST = 40_000
"""Values in one file, about 0.4 MB."""
_EACH = 60
"""What else is written of a series takes as much room as this many values."""


@dataclass(frozen=True)
class Shelves:
    """``split``: beginnings of ids whose files were too large. Pages look files up by them."""

    split: frozenset[str]

    @classmethod
    def of_sizes(cls, sizes: Mapping[str, int]) -> Shelves:
        """The shelves of series: the number of values by id."""
        split: list[str] = []
        waiting = [("", sorted(sizes))]
        while waiting:
            name, ids = waiting.pop()
            if len(ids) < 2 or sum(sizes[one] + _EACH for one in ids) <= MOST:
                continue
            longer: dict[str, list[str]] = defaultdict(list)
            for one in ids:
                longer[one[: len(name) + 1]].append(one)
            if longer.keys() != {name}:
                split.append(name)
                waiting += longer.items()
        return cls(frozenset(split))

    def of(self, id_: str) -> str:
        """The digits that name the file of a series."""
        size = 0
        while size < len(id_) and id_[:size] in self.split:
            size += 1
        return id_[:size]
