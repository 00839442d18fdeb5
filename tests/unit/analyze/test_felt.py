"""Counts and work that got worse while no time of their cells did."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from observatory.analyze.history.followers import FOLLOW_COUNTS, with_felt
from observatory.analyze.history.segments import Tracks, segmented
from observatory.analyze.history.series import Line, Series
from observatory.analyze.series_keys import SeriesKey
from observatory.analyze.statements import Occurrence, Statement
from observatory.store.records.alerts import Change, SeriesChange, at_of
from observatory.text.statements import sentence_of
from tests.factories_alerts import (
    CELL,
    ERA,
    detected,
    line,
    moment,
    series,
    stepped,
    subject,
    watched,
)

NIGHTS = 30
OTHER = ("radon", "warm_process", "NUMBA", "spawn")
SAID = "; the times of these cells show no step there"


def calls(place: int, cell: Sequence[str] = CELL) -> Series:
    """Python calls that grow by a tenth in one night."""
    values = np.full(NIGHTS, 500_000.0)
    values[place:] *= 1.1
    key = SeriesKey(*cell, "python_calls", "calls", "near_exact")
    return Series.of(line(NIGHTS), key, np.arange(NIGHTS), values)


def times(values: Sequence[float], cell: Sequence[str] = CELL) -> Series:
    return series(line(NIGHTS), values, cell=cell)


def sentence(*given: Series) -> str:
    alerts = detected(watched(NIGHTS, *given), moment(NIGHTS)).alerts
    (found,) = (one.sentence for one in alerts if one.kind == "more work")
    return found


def test_work_that_grew_while_no_time_did_says_so() -> None:
    assert sentence(calls(20), times(stepped(NIGHTS))).endswith(SAID)


@pytest.mark.parametrize(
    "values",
    [
        stepped(NIGHTS, 20),
        stepped(NIGHTS, 22),  # the place of a step is known to within some subjects
        stepped(NIGHTS)[:22],  # too few after it for a step to be found
        [float("nan")] * 17 + [*stepped(NIGHTS)[17:]],  # and before it
        stepped(NIGHTS)[:8],  # too few to be judged at all
        stepped(NIGHTS) * np.exp(0.02 * np.arange(NIGHTS)),  # a drift hides it
    ],
)
def test_nothing_is_said_where_a_time_moved_or_was_not_judged_there(values: list[float]) -> None:
    assert SAID not in sentence(calls(20), times(values))


def test_nothing_is_said_where_one_of_the_cells_has_no_time() -> None:
    given = calls(20), calls(20, OTHER), times(stepped(NIGHTS))
    assert SAID not in sentence(*given)
    assert SAID in sentence(*given, times(stepped(NIGHTS, seed=4), OTHER))


def on_another_cpu(*values: float) -> Series:
    """The times of later nights, on a machine that got another processor."""
    era = ERA._replace(cpu="Another CPU")
    nights = tuple(subject(NIGHTS + number) for number in range(len(values)))
    return series(Line("bench", "observatory-py3.13", era, nights), values)


def test_what_another_processor_measured_later_changes_no_sentence_of_before() -> None:
    for values in (stepped(NIGHTS), stepped(NIGHTS, 20)):
        known = calls(20), times(values)
        assert sentence(*known, on_another_cpu(0.7)) == sentence(*known)


def test_levels_are_found_by_commit_where_a_machine_had_several_processors() -> None:
    before, after = times(stepped(NIGHTS)), on_another_cpu(0.7, 0.7)
    found = Tracks(segmented([before, after]))
    assert before.key == after.key
    for number, own in ((3, before), (NIGHTS, after)):
        track = found.at(own.key, subject(number).commit)
        assert track is not None
        assert track.series is own
    assert found.at(before.key, "0" * 40) is None


def counted(metric: str, told: Sequence[SeriesChange] = ()) -> str:
    """The sentence on a count that grew in the night 20, and whose times have no step."""
    bad, good = at_of(subject(20)), at_of(subject(19))
    grown = SeriesChange(
        machine="bench", env_name="observatory-py3.13", benchmark=" ".join(CELL), metric=metric,
        unit="functions", kind="exact", before=0, after=3, last_good=good, first_bad=bad,
        newest=bad, holds=True,
    )  # fmt: skip
    change = Change(id="0" * 10, kind=f"more {metric}", sentence="", last_good=good,
                    first_bad=bad, between=0, series=[grown])  # fmt: skip
    one = Occurrence(change, True, Statement("count changed", ([grown], list(told))))
    tracks = Tracks(segmented([times(stepped(NIGHTS))]))
    (found,) = with_felt([one], tracks, FOLLOW_COUNTS)
    return sentence_of(found.statement)


def test_misses_that_no_time_shows_say_so_and_files_that_cost_no_time_do_not() -> None:
    assert counted("cache_misses").endswith(SAID)
    assert SAID not in counted("files_leaked")


def test_a_time_that_is_told_to_have_moved_is_not_said_to_be_as_before() -> None:
    bad = at_of(subject(20))
    moved = SeriesChange(
        machine="bench", env_name="observatory-py3.13", benchmark=" ".join(CELL),
        metric="compile_time", unit="seconds", kind="noisy", before=1.0, after=2.0,
        last_good=None, first_bad=bad, newest=bad, holds=True,
    )  # fmt: skip
    said = counted("cache_misses", [moved])
    assert "with it compile_time is" in said
    assert SAID not in said
