"""The values of each subject over all series of its line: what two subjects are compared by."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from observatory.analyze.history.segments import SegmentedSeries
from observatory.analyze.series_keys import FEWEST_FOR_INTERVAL
from observatory.dashboard.lines import BLOCK
from observatory.dashboard.site_input import SiteInput

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
        return sorted({place // BLOCK for place in np.flatnonzero(there).tolist()})

    def of(self, block: int) -> Mapping[int, object]:
        """The subjects of one block, by their places on the line.

        Each has ``i``, the numbers of its series, their values ``v`` and levels ``l``, and ``o``:
        the series whose values are far off. All blocks are made at once, and each is told once.
        """
        if block not in self._waiting:
            vars(self).pop("_waiting")
        return self._waiting.pop(block)

    @cached_property
    def _waiting(self) -> dict[int, dict[int, object]]:
        tracks = self._observed.tracks
        size = sum(len(tracks[number].series) for number in self._series)
        whole: dict[str, npt.NDArray[Any]] = {
            "at": np.empty(size, np.int32), "i": np.empty(size, np.int32), "v": np.empty(size),
            "o": np.zeros(size, np.bool_),
            **{name: np.full(size, np.nan) for name in ("l", "lo", "hi")},
        }  # fmt: skip
        stop = 0
        for number in self._series:
            track = self._track(number)
            series = track.series
            rows = slice(stop, stop + len(series))
            stop = rows.stop
            whole["at"][rows], whole["i"][rows], whole["v"][rows] = series.at, number, series.values
            if track.judgement == "judged":
                whole["l"][rows], whole["o"][rows] = track.expected, track.off
            elif track.judgement == "unfit" and not series.place.model:
                # Only where no levels are known is a comparison left to the rounds of one run.
                whole["lo"][rows] = known_ends(series.ci_low, series.n)
                whole["hi"][rows] = known_ends(series.ci_high, series.n)
            track.forget()
        order = np.lexsort((whole["i"], whole["at"]))
        for name, column in whole.items():
            whole[name] = column[order]
        for name in ("v", "l", "lo", "hi"):
            whole[name] = significant(whole[name])
        starts = np.flatnonzero(np.diff(whole["at"], prepend=-1) != 0)
        blocks: dict[int, dict[int, object]] = defaultdict(dict)
        for start, stop in pairwise([*starts.tolist(), len(order)]):
            place = int(whole["at"][start])
            one = {key: array[start:stop] for key, array in whole.items()}
            found = {"i": one["i"], "v": one["v"], "l": one["l"], "o": one["i"][one["o"]]}
            if np.isfinite(one["lo"]).any():
                found |= {"lo": one["lo"], "hi": one["hi"]}
            blocks[place // BLOCK][place] = found
        return blocks
