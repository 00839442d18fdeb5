"""The benchmarks of one result file, checked and gathered into columns."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from asv_runner.statistics import compute_stats

from observatory.store.asv.columns import Columns, Floats, Ints, Series, SeriesList

LARGEST_PRODUCT = 1_000_000
"""Combinations of one benchmark's parameters."""
LARGEST_TEXT = 2**26
"""Characters of the names and parameters of all the combinations of one file."""
LONGEST_NAME = 1000

_COLUMNS = ("result", "samples", "stats_repeat", "stats_ci_99_a", "stats_ci_99_b")
_PLAIN = {int, float, bool, type(None)}


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
        """All that was added, without what has no value."""
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
        closed = np.isfinite(low) & np.isfinite(high)
        found = Columns(
            series=np.repeat(numbers, lengths),
            position=(np.arange(len(value)) - np.repeat(starts, lengths)).astype(np.int32),
            value=value,
            n=_counts(samples, _floats(repeats)),
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
        self._text += self._series.texts[number]
        if self._text > LARGEST_TEXT:
            raise UnreadableError(f"the file names more than {LARGEST_TEXT} characters of series")
        return number

    def _name_what_is_no_number(self, starts: Ints) -> None:
        for number, start, length in zip(self._numbers, starts, self._lengths, strict=True):
            items = self._gathered[0][start : start + length]
            odd = sum(type(item) not in _PLAIN for item in items)
            if odd:
                part = "" if odd == length else " in part"
                said = f"is skipped{part}: {odd} of its {length} values are not numbers"
                self.not_numbers.append((self._series.all[number].name, said))


def interval(samples: Sequence[Any]) -> tuple[float, float]:
    """The 99 % interval of the median that asv gives samples; NaN where that cannot be told."""
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


def _counts(samples: list[Any], repeats: Floats) -> Ints:
    """How many samples there are: those that are listed, or as many as the statistics say."""
    counted = np.where((repeats >= 1) & (repeats < 2**31), repeats, 0)
    listed = np.array([len(one) if isinstance(one, list) else 0 for one in samples])
    return np.where(listed > 0, listed, counted).astype(np.int32)
