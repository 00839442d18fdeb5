"""Values of many result files as a few arrays, instead of an object for each value. Pure.

`SeriesReader` checks the benchmarks of one file and gathers them into arrays.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from asv_runner.statistics import compute_stats

LARGEST_PRODUCT = 1_000_000
"""Combinations of one benchmark's parameters."""
LARGEST_TEXT = 2**24
"""Characters of the names and parameters of all the combinations of one file, with 100 more for
each: a reader keeps 700 bytes of a combination beside its name."""
_BESIDE = 100
LONGEST_NAME = 1000

_COLUMNS = ("result", "samples", "stats_repeat", "stats_ci_99_a", "stats_ci_99_b")
_PLAIN = {int, float, bool, type(None)}

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


class UnreadableError(Exception):
    """A file or one of its benchmarks is skipped; the message is the reason as a sentence."""


class SeriesReader:
    """Gathers rows of one file; `columns` then holds what is a finite number."""

    def __init__(self, series: SeriesList) -> None:
        self.not_numbers: list[tuple[str, str]] = []
        """Benchmarks with values that are not numbers, and what that means; after `columns`."""
        self._series = series
        self._text = 0
        self._numbers: list[int] = []
        self._lengths: list[int] = []
        self._gathered: tuple[list[Any], ...] = tuple([] for _ in _COLUMNS)

    def add(self, name: str, row: Sequence[Any]) -> None:
        """Add a benchmark: result, params, samples, repeats and both ends of the interval.

        Each but params is null or a list as long as the product of params. Raises UnreadableError.
        """
        result, params, samples, repeats, lows, highs = row
        if result is None:
            return  # it failed, or was skipped, with every combination
        number = self._number(name, params)
        length = self._series.lengths[number]
        columns = (result, samples, repeats, lows, highs)
        for title, column in zip(_COLUMNS, columns, strict=True):
            if column is not None and (not isinstance(column, list) or len(column) != length):
                raise UnreadableError(
                    f"its `{title}` does not have the {length} values that its parameters make"
                )
        nothing = [None] * length
        for gathered, column in zip(self._gathered, columns, strict=True):
            gathered += nothing if column is None else column
        self._numbers.append(number)
        self._lengths.append(length)

    def columns(self) -> Columns:
        """All that was added, without what has no value.

        There are as many samples as are listed, or else as the statistics say.
        """
        numbers, lengths = np.array(self._numbers, np.int32), np.array(self._lengths, np.int64)
        starts = np.cumsum(lengths) - lengths
        values, samples, repeats, lows, highs = self._gathered
        value, low, high = _floats(values), _floats(lows), _floats(highs)
        if not _PLAIN.issuperset(map(type, values)):
            self._name_what_is_no_number(starts)
        for index in np.flatnonzero(np.isnan(low) | np.isnan(high)):
            taken = samples[index]
            if isinstance(taken, list) and len(taken) > 1:
                low[index], high[index] = interval(taken)
        counts = _floats(repeats)
        counted = np.where((counts >= 1) & (counts < 2**31), counts, 0)
        # Most files have no samples at all.
        some = any(samples)
        listed = np.array([len(one) if isinstance(one, list) else 0 for one in samples] if some
                          else np.zeros(len(samples)), np.int64)  # fmt: skip
        closed = np.isfinite(low) & np.isfinite(high)
        found = Columns(
            series=np.repeat(numbers, lengths),
            position=(np.arange(len(value)) - np.repeat(starts, lengths)).astype(np.int32),
            value=value,
            n=np.where(listed > 0, listed, counted).astype(np.int32),
            ci_low=np.where(closed, low, np.nan),
            ci_high=np.where(closed, high, np.nan),
        )
        there = np.isfinite(value)
        return found if there.all() else found.where(there)

    def _number(self, name: str, params: Any) -> int:
        if params is None:
            params = []
        if not isinstance(params, list) or not all(isinstance(words, list) for words in params):
            raise UnreadableError("its `params` is not a list of lists")
        key = tuple(map(tuple, params))
        try:
            number = self._series.find(name, key)
        except TypeError as error:  # of a list that is no key, being inside of another
            raise UnreadableError("its `params` hold more than texts and numbers") from error
        if number is None:
            if len(name) > LONGEST_NAME:
                raise UnreadableError(f"its name is longer than {LONGEST_NAME} characters")
            length = math.prod(map(len, params))
            if length > LARGEST_PRODUCT:
                raise UnreadableError(
                    f"its parameters have {length} combinations; at most {LARGEST_PRODUCT} are read"
                )
            words = tuple(tuple(map(str, words)) for words in params)
            number = self._series.number(Series(name, words))
        self._text += self._series.texts[number] + _BESIDE * self._series.lengths[number]
        if self._text > LARGEST_TEXT:
            raise UnreadableError(
                f"the file names more than {LARGEST_TEXT:,} characters of series, "
                f"of which each takes {_BESIDE} beside its name"
            )
        return number

    def _name_what_is_no_number(self, starts: Ints) -> None:
        for number, start, length in zip(self._numbers, starts, self._lengths, strict=True):
            items = self._gathered[0][start : start + length]
            odd = sum(type(item) not in _PLAIN for item in items)
            if odd:
                part = "" if odd == length else " in part"
                reason = f"is skipped{part}: {odd} of its {length} values are not numbers"
                self.not_numbers.append((self._series.all[number].name, reason))


def interval(samples: Sequence[Any]) -> tuple[float, float]:
    """The 99 % interval of the median that asv gives samples; NaN where there is none."""
    try:
        finite = [s for s in samples if type(s) in (int, float) and math.isfinite(s)]
        _, stats = compute_stats(finite, 1)
        found = float(stats["ci_99_a"]), float(stats["ci_99_b"])
    except (ArithmeticError, LookupError, TypeError, ValueError):
        # compute_stats was not made for numbers near the ends of the range.
        return math.nan, math.nan
    return found if all(map(math.isfinite, found)) else (math.nan, math.nan)


def _floats(items: list[Any]) -> Floats:
    """Numbers as an array, NaN for all that is none."""
    if _PLAIN.issuperset(map(type, items)):
        with contextlib.suppress(OverflowError):  # an integer of hundreds of digits
            return np.array(items, dtype=np.float64)
    return np.array(list(map(_number, items)), dtype=np.float64)


def _number(item: Any) -> float:
    try:
        return float(item) if type(item) in (int, float, bool) else math.nan
    except OverflowError:
        return math.nan
