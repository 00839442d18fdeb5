"""Times follow the exact counts of their cell: where a cache began to hit, their level changes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from observatory.analyze.history.segments import SegmentedSeries, segmented
from observatory.analyze.history.series import Line, Series, series_of
from observatory.analyze.series_keys import SeriesKey
from observatory.store.reading.read import read_results
from observatory.text import sizes
from tests.factories_alerts import CELL, line, series, stepped

RESULTS = Path(__file__).parents[3] / "results"


def misses(on: Line, values: list[float], at: list[int] | None = None) -> Series:
    place = SeriesKey(*CELL, "cache_misses", "functions", "exact")
    there = np.arange(len(values)) if at is None else np.array(at)
    return Series.of(on, place, there, np.array(values, float))


def time_of(*found: Series) -> SegmentedSeries:
    """The first of the series, cut into levels beside the others."""
    return next(segmented(found))


def test_the_step_of_warm_builds_at_2_36_0_is_found_in_what_was_recorded() -> None:
    found = segmented(series_of(read_results(RESULTS)))
    place = ("radon", "warm_disk", "NUMBA", "spawn", "compile_time")
    (track,) = (one for one in found if one.series.place[:5] == place)
    begins = [track.series.subject(step.index).label for step in track.steps]
    assert begins[0] == "2.36.0"
    assert track.levels[0] > 10 * track.levels[1]


@pytest.mark.parametrize("early", [1, 2, 4])
def test_a_time_has_a_step_where_its_cache_began_to_hit_however_early(early: int) -> None:
    on, values = line(20), stepped(20, early, 0.1)
    alone = time_of(series(on, values))
    assert alone.bounds == (0, 20)  # too few values for a detector
    found = time_of(series(on, values), misses(on, [105] * early + [0] * (20 - early)))
    assert found.bounds == (0, early, 20)
    (step,) = found.steps
    assert not step.worse
    assert step.after / step.before == pytest.approx(0.1, rel=0.1)
    assert sizes.brief(step, "seconds").startswith("faster: ")


def test_an_interval_is_given_only_where_values_are_enough_for_it() -> None:
    on = line(20)
    (one,) = time_of(series(on, stepped(20, 1, 0.1)), misses(on, [9] + [0] * 19)).steps
    assert "interval" not in sizes.details(one, "seconds")
    (four,) = time_of(series(on, stepped(20, 4, 0.1)), misses(on, [9] * 4 + [0] * 16)).steps
    assert "95 % interval" in sizes.details(four, "seconds")


def test_other_steps_are_found_beside_an_event() -> None:
    on, values = line(60), stepped(60, 2, 0.1)
    values[40:] *= 1.3
    found = time_of(series(on, values), misses(on, [105] * 2 + [0] * 58))
    assert found.bounds == (0, 2, 40, 60)


def test_a_drift_is_found_beside_an_event() -> None:
    on, values = line(200), stepped(200, 3, 0.1)
    values *= np.exp(np.linspace(0, 0.3, 200))
    found = time_of(series(on, values), misses(on, [105] * 3 + [0] * 197))
    assert found.drift is not None
    assert found.drift.ratio == pytest.approx(np.exp(0.3), rel=0.05)
    assert 3 in found.bounds


@pytest.mark.parametrize(
    ("factor", "counts"),
    [(1.0, [5] * 2 + [0] * 18), (0.1, [0] * 2 + [5] * 18)],
    ids=["the time stayed", "the count went the other way"],
)
def test_a_time_that_did_not_follow_a_count_has_no_step(factor: float, counts: list[float]) -> None:
    on = line(20)
    assert time_of(series(on, stepped(20, 2, factor)), misses(on, counts)).bounds == (0, 20)


@pytest.mark.parametrize("place", [2, 4])
def test_of_a_count_with_a_gap_nobody_knows_where_it_changed(place: int) -> None:
    on, values = line(20), stepped(20, place, 0.1)
    gap = misses(on, [105.0, *[0.0] * 16], at=[0, *range(4, 20)])
    assert time_of(series(on, values), gap).bounds == (0, 20)


@pytest.mark.parametrize("factor", [0.1, 10.0])
def test_counts_of_a_cell_that_go_both_ways_at_once_explain_no_time(factor: float) -> None:
    on = line(20)
    fewer, more = misses(on, [105] * 2 + [0] * 18), misses(on, [0] * 2 + [105] * 18)
    refused = replace(more, place=more.place._replace(metric="uncacheable"))
    both = time_of(series(on, stepped(20, 2, factor)), fewer, refused)
    assert both.bounds == (0, 20)


def test_counts_of_another_cell_or_line_are_no_events() -> None:
    on, values = line(20), stepped(20, 2, 0.1)
    count = misses(on, [105] * 2 + [0] * 18)
    other = replace(count, place=count.place._replace(backend="C"))
    elsewhere = replace(count, line=line(20, "another"))
    assert time_of(series(on, values), other, elsewhere).bounds == (0, 20)
