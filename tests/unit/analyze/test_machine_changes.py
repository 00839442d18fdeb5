"""Times that moved alike while the work did not are of the machine; nothing else is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import pytest

from observatory.analyze.history.machine_changes import (
    changes_of_alerts,
    machine_changes,
    other_speeds,
)
from observatory.analyze.history.newest import SeriesVerdicts
from observatory.analyze.moved_alike import moved_alike
from observatory.benchmarks.catalogue import Cell
from observatory.dashboard.pages.newest_value import newest_change
from observatory.dashboard.pages.overview import overview
from observatory.dashboard.site_input import SiteInput
from observatory.store.records.alerts import At, SeriesChange
from tests import factories_frame as factory
from tests.factories_site import observed
from tests.unit.dashboard.test_pages import alert

OLD, NEW = "3.3.4", "3.3.7"
CELLS = [
    Cell("radon", scenario, backend, "spawn")
    for scenario in ("warm_disk", "warm_process", "call") for backend in ("C", "C_VM", "NUMBA")
]  # fmt: skip
TIMES = [("compile_time" if n % 2 else "call_time", 1.0, 1.4) for n in range(8)]
WORK = [(1000.0, 1001.0)] * 3


def test_times_that_moved_alike_without_their_work_are_of_the_machine() -> None:
    found = moved_alike(TIMES, WORK)
    assert found is not None
    assert (found.moved, found.measured, found.counted) == (8, 8, 3)
    assert (found.ratio, found.work) == (pytest.approx(1.4), pytest.approx(1.001))


@pytest.mark.parametrize(
    ("times", "work"),
    [
        (TIMES[:7], WORK),  # too few to be sure
        ([("compile_time", 1.0, 1.4)] * 8, WORK),  # only builds
        (TIMES, [(1000.0, 1400.0)] * 3),  # as much more work
        (TIMES, []),  # no work was counted
        ([(name, 1.0, 1.05) for name, _, _ in TIMES], WORK),  # within noise
        ([(name, 1.0, 1.4 if n < 4 else 1 / 1.4) for n, (name, _, _) in enumerate(TIMES)], WORK),
    ],
)
def test_anything_less_is_not(
    times: Sequence[tuple[str, float, float]], work: Sequence[tuple[float, float]]
) -> None:
    assert moved_alike(times, work) is None


def history(slower: float, work: float = 1.0) -> SiteInput:
    """All releases; times of the newest are ``slower`` times, its work ``work`` times as much."""
    frame = factory.frame()
    timed = (frame["subject"] == NEW) & frame["metric"].isin(("compile_time", "call_time"))
    frame.loc[timed, ["value", "ci_low", "ci_high"]] *= slower
    rows = [
        factory.row(
            cell, "instructions", 1e9 * (work if label == NEW else 1.0), subject=label,
            pytensor=label, date=pd.Timestamp(factory.RELEASES[label][1], tz="UTC"),
        )
        for label in (OLD, NEW) for cell in CELLS
    ]  # fmt: skip
    found = observed(pd.concat([frame, factory.as_frame(rows)]))
    return replace(found, machine_changes=machine_changes(one.series for one in found.tracks))


def test_a_slower_host_under_the_same_name_is_told_once_and_no_cell_is_called_slower() -> None:
    found = history(slower=1.5)
    (change,) = found.machine_changes
    assert change.before is not None
    assert (change.before.label, change.at.label) == (OLD, NEW)
    first = overview(found, None, None).news[0]
    assert (first.kind, first.css) == ("machine probably changed", "unknown")
    assert "of the same cells did not" in first.sentence
    words = {newest_change(found, track).words for track in found.tracks}
    assert any(one.endswith("the machine likely changed") for one in words)
    assert not any("not confirmed" in one and "slower" in one for one in words)


def test_a_machine_that_became_slower_is_not_named_beside_a_value_that_is_faster(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its level may be older than the subject before: calls were slower there once."""
    found = history(slower=1.5)
    track = next(
        one for one in found.tracks
        if newest_change(found, one).words.endswith("the machine likely changed")
    )  # fmt: skip
    *_, before, newest = track.series.values.tolist()
    assert newest > before
    older = replace(found.verdicts_on(track).state, before=2 * newest)
    monkeypatch.setattr(SeriesVerdicts, "state", older)
    words = newest_change(found, track).words
    assert words.startswith("slower: ")
    assert words.endswith(f" against {OLD}; the machine likely changed")


def test_a_change_lies_between_every_subject_before_it_and_every_later_one() -> None:
    found = history(slower=1.5)
    (change,) = found.machine_changes
    line = change.line
    whos = {one.label: (line.machine, line.env_name, one.commit) for one in line.subjects}
    first, old, new = whos[line.subjects[0].label], whos[OLD], whos[NEW]
    speeds = other_speeds(found.machine_changes, {first, old, new})
    assert speeds.keys() == {(first, new), (old, new), (new, first), (new, old)}
    assert {one.since for one in speeds.values()} == {NEW}


def test_a_real_slowdown_stays_one() -> None:
    assert not history(slower=1.5, work=1.5).machine_changes


def test_an_alert_of_times_that_begins_there_names_the_machine_and_one_of_counts_does_not() -> None:
    found = history(slower=1.5)
    (change,) = found.machine_changes
    told = alert(found).series[0]

    def beginning(kind: str) -> SeriesChange:
        at = At(label=NEW, commit=change.at.commit, date=change.at.date)
        return told.model_copy(update={"kind": kind, "first_bad": at})

    alerts = [
        alert(found, id=id_ * 10, series=[beginning(kind)], first_bad=beginning(kind).first_bad)
        for id_, kind in (("a", "noisy"), ("b", "exact"))
    ]
    record = found.alerts.model_copy(update={"alerts": alerts})
    assert list(changes_of_alerts(record, found.tracks, [change])) == ["a" * 10]
