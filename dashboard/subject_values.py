"""The values of each subject over all series of its line: what two subjects are compared by."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from observatory.analyze.history.segments import SegmentedSeries
from observatory.analyze.series_keys import FEWEST_FOR_INTERVAL
from observatory.dashboard.lines import BLOCK
from observatory.dashboard.site_input import SiteInput
from observatory.store.base.files import cache_directory
from observatory.store.base.nameless import Filed, Nameless

MOST = 500_000
"""Values of a line that are sorted by subject at once: more are put into files."""
_COLUMNS = {"i": "<i4", "v": "<f8", "l": "<f8", "lo": "<f8", "hi": "<f8", "o": "|b1"}
_DIGITS = 6
_LARGEST_COUNT = 2.0**53
"""Below it, every whole number has a float of its own."""
Floats = npt.NDArray[np.float64]
with np.errstate(over="ignore"):
    _POWERS = 10.0 ** np.arange(400)
    """Of every exponent that can be asked for; to raise 10 to each takes longer than all else."""


def significant(values: Floats) -> Floats:
    """The values with six significant digits, and counts as they are: pages print whole numbers."""
    size = np.abs(np.where(values == 0, 1.0, values))
    places = _DIGITS - 1 - np.floor(np.log10(np.where(np.isfinite(size), size, 1.0)))
    up = places >= 0
    with np.errstate(over="ignore", invalid="ignore"):
        scale = _POWERS[np.abs(places).astype(np.intp)]
        rounded = np.rint(values * scale) / scale
        if not up.all():
            rounded = np.where(up, rounded, np.rint(values / scale) * scale)
    whole = (np.rint(values) == values) & (size < _LARGEST_COUNT)
    return np.where(np.isfinite(rounded) & ~whole, rounded, values)


def known_ends(ends: Floats, n: npt.NDArray[np.integer]) -> Floats:
    """The ends of intervals; NaN where samples are too few for them."""
    return np.where(n >= FEWEST_FOR_INTERVAL, ends, np.nan)


def subject_blocks(
    observed: SiteInput, numbers: Sequence[int], track: Callable[[int], SegmentedSeries]
) -> _Blocks:
    """The values of one line, whose series have these numbers, in blocks of BLOCK subjects.

    ``track``: the series of a number.
    """
    return _Blocks(observed, numbers, track)


class _Blocks:
    def __init__(
        self, observed: SiteInput, numbers: Sequence[int], track: Callable[[int], SegmentedSeries]
    ) -> None:
        self._observed = observed
        self._series = numbers
        self._track = track

    @cached_property
    def numbers(self) -> list[int]:
        """The numbers of the blocks that have values."""
        tracks = self._observed.tracks
        there = np.zeros(len(tracks[self._series[0]].series.line.subjects), np.bool_)
        for number in self._series:
            there[tracks[number].series.at] = True
            if there.all():  # as most often after the first: the others are not even looked at
                break
        return sorted({place // BLOCK for place in np.flatnonzero(there).tolist()})

    def of(self, block: int) -> Mapping[int, object]:
        """The subjects of one block, by their places on the line.

        Each has ``i``, the places of its series among those of the line, their values ``v`` and
        levels ``l``, and ``o``: the series whose values are far off.
        """
        found: dict[int, object] = {}
        for place in range(block * BLOCK, (block + 1) * BLOCK):
            own = [run.of(place) for run in self._runs]
            one = {name: np.concatenate([each[name] for each in own]) for name in _COLUMNS}
            if not len(one["i"]):
                continue
            told = {"i": one["i"], "v": one["v"], "l": one["l"], "o": one["i"][one["o"]]}
            if np.isfinite(one["lo"]).any():
                told |= {"lo": one["lo"], "hi": one["hi"]}
            found[place] = told
        for run in self._runs:
            run.let_go()
        return found

    @cached_property
    def _runs(self) -> list[_Run]:
        """All values, those of some series at a time: many are in files and not in memory."""
        runs: list[list[int]] = [[]]
        size = 0
        for number in self._series:
            size += len(self._observed.tracks[number].series)
            if size > MOST and runs[-1]:
                runs.append([])
                size = len(self._observed.tracks[number].series)
            runs[-1].append(number)
        if len(runs) == 1:
            return [self._run(0, self._series)]
        found: list[_Run] = []
        first = 0
        for own in runs:
            found.append(self._run(first, own).filed())
            first += len(own)
            self._observed.let_go()
        return found

    def _run(self, first: int, numbers: Sequence[int]) -> _Run:
        """The values of some series by their subjects; ``first``: the place of the first one."""
        size = sum(len(self._observed.tracks[number].series) for number in numbers)
        at = np.empty(size, np.int32)
        whole = {name: np.zeros(size, kind) for name, kind in _COLUMNS.items()}
        for name in ("l", "lo", "hi"):
            whole[name][:] = np.nan
        stop = 0
        for place, number in enumerate(numbers, first):
            track = self._track(number)
            series = track.series
            rows = slice(stop, stop + len(series))
            stop = rows.stop
            at[rows], whole["i"][rows], whole["v"][rows] = series.at, place, series.values
            if track.judgement == "judged":
                whole["l"][rows], whole["o"][rows] = track.expected, track.off
            elif track.judgement == "unfit" and not series.place.model:
                # Only where no levels are known is a comparison left to the rounds of one run.
                whole["lo"][rows] = known_ends(series.ci_low, series.n)
                whole["hi"][rows] = known_ends(series.ci_high, series.n)
            track.forget()
        order = np.lexsort((whole["i"], at))
        for name, column in whole.items():
            whole[name] = column[order]
        for name in ("v", "l", "lo", "hi"):
            whole[name] = significant(whole[name])
        counts = np.bincount(at)
        return _Run(whole, [0, *np.cumsum(counts).tolist()])


@dataclass(frozen=True)
class _Run:
    """The values of some series by their subjects: those of each begin at one of ``starts``."""

    columns: Mapping[str, npt.NDArray[Any]]
    starts: Sequence[int]
    file: Filed | None = None
    """What they are in, if they are not in memory."""

    def of(self, place: int) -> dict[str, npt.NDArray[Any]]:
        """The values of one subject."""
        last = len(self.starts) - 1
        rows = slice(self.starts[min(place, last)], self.starts[min(place + 1, last)])
        return {name: column[rows] for name, column in self.columns.items()}

    def filed(self) -> _Run:
        """The same in a file, unless none can be written."""
        with contextlib.suppress(OSError):
            size = self.starts[-1]
            where = cache_directory() or Path(tempfile.gettempdir())
            made = Nameless(where, {name: (kind, size) for name, kind in _COLUMNS.items()})
            made.add(**self.columns)
            file = made.filed()
            return _Run(file.arrays, self.starts, file)
        return self

    def let_go(self) -> None:
        """Take what was looked at out of memory, if it is in a file."""
        if self.file is not None:
            self.file.let_go()
