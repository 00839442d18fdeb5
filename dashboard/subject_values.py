"""The values of each subject over all series of its line: what two subjects are compared by."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from observatory.analyze.series_keys import FEWEST_FOR_INTERVAL
from observatory.dashboard.lines import BLOCK
from observatory.dashboard.site_input import SiteInput

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


def subject_blocks(observed: SiteInput, numbers: Sequence[int]) -> _Blocks:
    """The values of one line, whose series have these numbers, in blocks of BLOCK subjects."""
    return _Blocks(observed, numbers)


class _Blocks:
    def __init__(self, observed: SiteInput, numbers: Sequence[int]) -> None:
        self._observed = observed
        self._series = numbers

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
        observed = self._observed
        parts: dict[str, list[npt.NDArray[np.generic]]] = defaultdict(list)
        for number in self._series:
            track = observed.tracks[number]
            n = len(track.series.values)
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
            # Nothing else asks for these, and those of all lines would be much memory.
            for name in ("expected", "off"):
                vars(track).pop(name, None)
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
