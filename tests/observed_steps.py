"""Hold every step and drift that alerts tell of a results directory against its values.

    python -m tests.observed_steps RESULTS [RESULTS ...]

Prints how many there are and how many give a level that was not observed, or an interval that does
not hold the ratio of the medians beside it; exits with 1 if any does.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np

from observatory.analyze.history.level_changes import judge_series
from observatory.analyze.history.segments import NEAR, SegmentedSeries, segmented
from observatory.analyze.history.series import series_of
from observatory.store.reading.read import read_results
from observatory.store.records.alerts import SeriesChange
from observatory.text import sizes

ROUNDING = 1e-9
"""Relative difference of two numbers that are the same."""


@dataclass
class Checked:
    """What was looked at, and what was found wrong, in words."""

    steps: int = 0
    drifts: int = 0
    two_modes: int = 0
    intervals: int = 0
    wrong: list[str] = field(default_factory=list)


def check(tracks: Iterable[SegmentedSeries]) -> Checked:
    """Compare what alerts tell of each track with medians of its values."""
    found = Checked()
    for track in tracks:
        for moved in judge_series([track]).moved:
            told = moved.change
            if moved.drifting:
                found.drifts += 1
                expected = _longest(track)
            else:
                found.steps += 1
                found.two_modes += told.modes is not None
                expected = _around(track, told)
                said = sizes.details(told, told.unit)
                found.intervals += "interval" in said
                found.wrong += _contradictions(told, said)
            found.wrong += [
                f"{told.key}: {name} is {value:.6g}, observed {seen:.6g}"
                for name, value, seen in zip(
                    ("before", "after", "now"), (told.before, told.after, told.now),
                    (*expected, _newest(track)), strict=True,
                )
                if value is None or abs(value - seen) > ROUNDING * abs(seen)
            ]  # fmt: skip
    return found


def _around(track: SegmentedSeries, told: SeriesChange) -> tuple[float, float]:
    """Medians of the levels around a step; where the series drifts, of the values nearest to it."""
    values, bounds = track.series.values, track.bounds
    commits = [track.series.subject(bound).commit for bound in bounds[1:-1]]
    number = commits.index(told.first_bad.commit)
    start, place, stop = bounds[number : number + 3]
    if track.drift is not None:
        start, stop = max(start, place - NEAR), min(stop, place + NEAR)
    return float(np.median(values[start:place])), float(np.median(values[place:stop]))


def _longest(track: SegmentedSeries) -> tuple[float, float]:
    start, stop = max(pairwise(track.bounds), key=lambda ends: ends[1] - ends[0])
    values = track.series.values[start:stop]
    return float(np.median(values[:NEAR])), float(np.median(values[-NEAR:]))


def _newest(track: SegmentedSeries) -> float:
    newest = track.series.values[track.bounds[-2] :]
    return float(np.median(newest if track.drift is None else newest[-NEAR:]))


def _contradictions(told: SeriesChange, said: str) -> Iterable[str]:
    seen = told.after / told.before
    if "interval" in said and not (told.low or 0) <= seen <= (told.high or 0):
        yield f"{told.key}: {said}: the interval does not hold the ratio of the medians"
    ratio = sizes.medians(told)
    if ratio is not None and (ratio > 1) != told.worse:
        yield f"{told.key}: {said}: the medians say the opposite of the word"


def main(arguments: list[str]) -> int:
    """Check each directory; returns the exit status."""
    status = 0
    for name in arguments:
        found = check(segmented(series_of(read_results(Path(name)))))
        print(
            f"{name}: {found.steps} steps, {found.two_modes} of two modes, {found.intervals} with "
            f"an interval; {found.drifts} drifts; {len(found.wrong)} off"
        )
        for line in found.wrong[:20]:
            print(f"  {line}")
        status |= bool(found.wrong)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
