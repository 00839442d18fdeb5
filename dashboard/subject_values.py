"""The values of each subject over all series of its line: what two subjects are compared by."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from observatory.analyze.history.segments import SegmentedSeries
from observatory.analyze.series_keys import FEWEST_FOR_INTERVAL
from observatory.dashboard.lines import BLOCK

_DIGITS = 6
Floats = npt.NDArray[np.float64]
with np.errstate(over="ignore"):
    _POWERS = 10.0 ** np.arange(400)
    """Of every exponent that can be asked for; to raise 10 to each takes longer than all else."""


def significant(values: Floats) -> Floats:
    """The values with six significant digits."""
    size = np.abs(np.where(values == 0, 1.0, values))
    places = _DIGITS - 1 - np.floor(np.log10(np.where(np.isfinite(size), size, 1.0)))
    up = places >= 0
    with np.errstate(over="ignore", invalid="ignore"):
        scale = _POWERS[np.abs(places).astype(np.intp)]
        rounded = np.rint(values * scale) / scale
        if not up.all():
            rounded = np.where(up, rounded, np.rint(values / scale) * scale)
    return np.where(np.isfinite(rounded), rounded, values)


def known_ends(ends: Floats, n: npt.NDArray[np.integer]) -> Floats:
    """The ends of intervals; NaN where samples are too few for them."""
    return np.where(n >= FEWEST_FOR_INTERVAL, ends, np.nan)


def subject_blocks(numbers: Sequence[int], track: Callable[[int], SegmentedSeries]) -> _Blocks:
    """The values of one line, whose series have these numbers, in blocks of BLOCK subjects.

    ``track``: the series of a number.
    """
    return _Blocks(numbers, track)


class _Blocks:
    def __init__(self, numbers: Sequence[int], track: Callable[[int], SegmentedSeries]) -> None:
        self._series = numbers
        self._track = track

    @cached_property
    def numbers(self) -> list[int]:
        """The numbers of the blocks that have values."""
        there = np.zeros(len(self._track(self._series[0]).series.line.subjects), np.bool_)
        for number in self._series:
            there[self._track(number).series.at] = True
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
        parts: dict[str, list[npt.NDArray[np.generic]]] = defaultdict(list)
        for number in self._series:
            track = self._track(number)
            n = len(track.series)
            parts["at"].append(track.series.at)
            parts["i"].append(np.full(n, number, np.int32))
            parts["v"].append(track.series.values)
            judged = track.judgement == "judged"
            parts["l"].append(track.expected if judged else np.full(n, np.nan))
            parts["o"].append(track.off if judged else np.zeros(n, np.bool_))
            # Only where no levels are known is a comparison left to the rounds of one run.
            for name, ends in (("lo", track.series.ci_low), ("hi", track.series.ci_high)):
                parts[name].append(
                    known_ends(ends, track.series.n)
                    if track.judgement == "unfit" and not track.series.place.model
                    else np.full(n, np.nan)
                )
            track.forget()
        # One column at a time: all of a line may be much memory.
        order = np.lexsort((np.concatenate(parts["i"]), np.concatenate(parts["at"])))
        whole = {name: np.concatenate(parts.pop(name))[order] for name in list(parts)}
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
