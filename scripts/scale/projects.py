"""Projects that do not exist: what they take in a night, drawn from the cells of the journals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from observatory.store.journal.reader import read_journal
from observatory.store.records import layout

Drawn = list[tuple[float, int]]
"""What one worker takes without a break, in order: seconds, and how many samples that is."""


class Cell(NamedTuple):
    """A cell of a subject in RESULTS: an array of what one worker takes, and its series."""

    taken: Any
    series: int


def cells(results: Path) -> list[Cell]:
    """Every cell of every subject, with the seconds that its samples took."""
    found = []
    for path in layout.journals(results):
        entries = defaultdict(list)
        for entry in read_journal(path).entries:
            entries[entry.sample.cell].append(entry.sample)
        for samples in entries.values():
            seconds = [one.overhead.total if one.overhead else 0.0 for one in samples]
            timed = [s for s, one in zip(seconds, samples, strict=True) if one.measure == "timing"]
            other = [s for s, one in zip(seconds, samples, strict=True) if one.measure != "timing"]
            pairs = [timed[place : place + 2] for place in range(0, len(timed), 2)]
            taken = [(sum(one), len(one)) for one in pairs] + [(one, 1) for one in other]
            series = len({name for one in samples for name in one.metrics})
            found.append(Cell(np.array(taken), series))
    return found


def project(known: Sequence[Cell], series: int, chance: np.random.Generator) -> Drawn:
    """What one project takes in a night, in any order."""
    chosen, had = list[Any](), 0
    while had < series:
        cell = known[chance.integers(len(known))]
        had += cell.series
        chosen.append(cell.taken)
    return [(s, int(n)) for s, n in chance.permutation(np.concatenate(chosen)).tolist()]
