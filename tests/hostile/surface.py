"""What a surface is, and good contents of committed files."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.hostile.mutations import mutated

RESULTS = Path(__file__).parents[2] / "results"
Reader = Callable[[bytes, Path], object]


@dataclass(frozen=True)
class Surface:
    """One place where something of strangers is read, good contents of it, and what reads them.

    A reader does what a command does with the content, and raises ObservatoryError (a sentence), or
    nothing. It is given an empty directory, which it may fill.
    """

    seeds: Callable[[], list[bytes]]
    read: Reader
    made: Callable[[Random], bytes] | None = None
    """Makes a content that is hostile and gets past the first checks; None: mutations are all."""

    def case(self, seeds: Sequence[bytes], dice: Random) -> bytes:
        """Return a content as a stranger could write it: made, mutated, or both."""
        if self.made is None or dice.random() < 0.3:
            return mutated(seeds, dice)
        content = self.made(dice)
        return mutated([content], dice) if dice.random() < 0.2 else content


def committed(pattern: str, most: int = 3, largest: int = 300_000) -> Callable[[], list[bytes]]:
    """The first committed files of a pattern that are not large."""
    return lambda: [
        path.read_bytes() for path in sorted(RESULTS.glob(pattern))
        if path.stat().st_size < largest
    ][:most]  # fmt: skip


def dumped(*found: object) -> list[bytes]:
    """Each as JSON."""
    return [json.dumps(one).encode() for one in found]


def emptied(work: Path) -> Iterator[Path]:
    """The same directory, empty, again and again."""
    while True:
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        yield work
