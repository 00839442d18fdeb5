"""A series cut into levels, its noise, and what its newest value is seen against."""

from __future__ import annotations

import numpy as np
import pytest

from observatory.analyze.history.segments import SegmentedSeries, segmented
from observatory.analyze.history.series import Series
from observatory.analyze.series_keys import SeriesKey
from observatory.analyze.statements import Statement
from tests.factories_alerts import CELL, line, series, stepped


def track(values: list[float] | np.ndarray, metric: str = "compile_time") -> SegmentedSeries:
    (found,) = segmented([series(line(len(values)), values, metric)])
    return found


def counted(values: list[float]) -> SegmentedSeries:
    place = SeriesKey(*CELL, "cache_misses", "functions", "exact")
    on = line(len(values))
    (found,) = segmented([Series.of(on, place, np.arange(len(values)), np.array(values, float))])
    return found


def test_a_step_parts_two_levels() -> None:
    found = track(stepped(60, 40, 1.3))
    assert found.judgement == "judged"
    assert found.bounds == (0, 40, 60)
    assert found.levels[1] / found.levels[0] == pytest.approx(1.3, rel=0.02)


def test_noise_is_that_about_the_levels_and_not_the_step() -> None:
    flat, found = track(stepped(60)), track(stepped(60, 40, 3.0))
    assert flat.noise == pytest.approx(0.02, rel=0.4)
    assert found.noise == pytest.approx(flat.noise, rel=0.3)


def test_counts_have_a_level_for_each_run_of_equal_values() -> None:
    found = counted([0, 0, 35, 35, 0])
    assert found.judgement == "exact"
    assert found.bounds == (0, 2, 4, 5)
    assert found.levels == (0, 35, 0)
    assert found.noise is None


def test_a_metric_that_only_describes_is_not_judged() -> None:
    found = track(stepped(60, 40, 1.3), "function_time")
    assert (found.judgement, found.bounds) == ("described", (0, 60))
    assert found.reason == Statement("described")


@pytest.mark.parametrize("values", [[1.0] * 9, [1.0] * 20 + [0.0] * 20, [1.0] * 20 + [1e12] * 20])
def test_what_cannot_be_judged_says_why(values: list[float]) -> None:
    found = track(values)
    assert found.judgement == "unfit"
    assert found.reason
    assert found.noise is None


def test_the_newest_value_is_seen_against_its_own_level_without_it() -> None:
    values = stepped(60, 40, 1.3)
    values[-1] *= 1.5
    found = track(values)
    assert found.before == pytest.approx(np.median(values[40:-1]))
    assert found.noise is not None
    ratio = values[-1] / np.median(values[40:-1])
    assert found.multiple == pytest.approx(np.log(ratio) / found.noise)
    assert found.multiple > 10


def test_a_drift_is_not_held_against_the_newest_value() -> None:
    found = track(stepped(100) * np.linspace(1, 1.5, 100))
    assert found.drift is not None
    assert abs(found.multiple or 9) < 3


def test_a_count_is_seen_against_the_count_before() -> None:
    assert counted([0, 0, 35]).before == 0
    assert counted([7]).before is None
    assert counted([0, 35]).multiple is None


def test_what_was_forgotten_is_found_again() -> None:
    found = track(stepped(60, 40, 1.3))
    told = [(found.steps, found.levels, found.noise, found.expected.tolist()) for _ in range(2)]
    assert vars(found)
    found.forget()
    assert vars(found) == {}
    told.append((found.steps, found.levels, found.noise, found.expected.tolist()))
    assert told[0] == told[1] == told[2]
    assert found.steps
