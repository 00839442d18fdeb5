"""Values of many result files as a few arrays, instead of an object for each value. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Ints: TypeAlias = npt.NDArray[np.int32]
Floats: TypeAlias = npt.NDArray[np.float64]
Params: TypeAlias = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Series:
    """One benchmark with its parameters; ``params`` are lists of reprs, as asv stores them."""

    name: str
    params: Params = ()

    def __len__(self) -> int:
        """How many combinations the parameters make: 1 if there are none."""
        return math.prod(len(words) for words in self.params)

    def combination(self, position: int) -> tuple[str, ...]:
        """The parameters at a position of their product; the last varies fastest.

        >>> Series("time_it", (("1", "2"), ("'a'", "'b'"))).combination(2)
        ('2', "'a'")
        """
        chosen = []
        for words in reversed(self.params):
            position, index = divmod(position, len(words))
            chosen.append(words[index])
        return tuple(reversed(chosen))


@dataclass(frozen=True)
class Columns:
    """Arrays of one length, an item a value that is there.

    ``series`` counts in a list of series that goes with the columns, ``position`` in the product
    of its parameters. ``n`` is 0 and the 99 % interval NaN where a file does not tell them.
    """

    series: Ints = field(default_factory=lambda: np.empty(0, np.int32))
    position: Ints = field(default_factory=lambda: np.empty(0, np.int32))
    value: Floats = field(default_factory=lambda: np.empty(0))
    n: Ints = field(default_factory=lambda: np.empty(0, np.int32))
    ci_low: Floats = field(default_factory=lambda: np.empty(0))
    ci_high: Floats = field(default_factory=lambda: np.empty(0))

    def __len__(self) -> int:
        return len(self.value)

    def where(self, chosen: npt.NDArray[np.bool_] | npt.NDArray[np.integer] | slice) -> Columns:
        """The chosen items."""
        return Columns(*(array[chosen] for array in self.arrays()))

    def arrays(self) -> list[npt.NDArray[Any]]:
        """The columns in the order of the fields."""
        return [getattr(self, name) for name in COLUMN_NAMES]

    def renumbered(self, numbers: Ints) -> Columns:
        """The same items, where series ``i`` is called ``numbers[i]``."""
        return Columns(numbers[self.series], *self.arrays()[1:])


COLUMN_NAMES = tuple(one.name for one in fields(Columns))


def joined(parts: Sequence[Columns]) -> Columns:
    """Columns that count in the same list of series, one after another."""
    if len(parts) < 2:
        return parts[0] if parts else Columns()
    each = zip(*(part.arrays() for part in parts), strict=True)
    return Columns(*(np.concatenate(arrays) for arrays in each))


class SeriesList:
    """Series, each once, known by its number: its place in ``all``, ``lengths`` and ``texts``."""

    def __init__(self, series: Iterable[Series] = ()) -> None:
        self.all: list[Series] = []
        self.lengths: list[int] = []
        self.texts: list[int] = []
        """Characters, at most, of the names of all the combinations of a series."""
        self._numbers: dict[tuple[str, object], int] = {}
        for one in series:
            self.number(one)

    def find(self, name: str, params: object) -> int | None:
        """The number of a series that was added. Raises TypeError for params without a hash."""
        return self._numbers.get((name, params))

    def number(self, series: Series) -> int:
        """The number of a series, which is added if it is new."""
        number = self._numbers.setdefault((series.name, series.params), len(self.all))
        if number == len(self.all):
            self.all.append(series)
            self.lengths.append(len(series))
            longest = sum(max(map(len, words), default=0) + 2 for words in series.params)
            self.texts.append(len(series) * (len(series.name) + longest))
        return number

    def numbers(self, series: Iterable[Series]) -> Ints:
        """The numbers of many."""
        return np.fromiter((self.number(one) for one in series), np.int32)
