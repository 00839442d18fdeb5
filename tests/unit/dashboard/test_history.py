from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise

import pandas as pd
import pytest

from observatory.benchmarks.catalogue import Cell
from observatory.dashboard.drawing import geometry
from observatory.dashboard.pages.history import History, history
from observatory.dashboard.pages.story import story_of
from observatory.dashboard.pages.summary import newest
from observatory.text.words import SHOWN_METRICS
from tests import factories_frame as factory


def past(frame: pd.DataFrame) -> History:
    cell_values = factory.read(frame.sample(frac=1, random_state=1), frozenset(SHOWN_METRICS))
    subject = newest(cell_values)
    assert subject is not None
    return history(cell_values, subject)


def test_releases_stand_in_order_whatever_the_order_of_the_rows():
    assert past(factory.frame()).times[0].releases == tuple(factory.RELEASES)


def test_other_settings_and_extra_requirements_are_left_out_and_named():
    found = past(
        pd.concat(
            [
                factory.frame(),
                factory.as_frame(factory.release_rows("3.3.0", machine="ci-4c")),
                factory.as_frame(factory.release_rows("3.2.0", subject="3.2.0 numba==0.65.0")),
            ]
        )
    )
    assert found.releases == len(factory.RELEASES)
    assert found.left_out == (
        "Python 3.12 on ci-4c (1 subject)", "1 subject with extra requirements",
    )  # fmt: skip


def test_environments_with_the_same_words_are_named_once():
    shown = factory.read(factory.frame(), frozenset(SHOWN_METRICS))
    others = (replace(shown[0].setting, env_name=f"py3.12-nutpie0.{minor}") for minor in (15, 16))
    elsewhere = tuple(replace(shown[0], setting=setting) for setting in others)
    subject = newest(shown)
    assert subject is not None
    assert history((*elsewhere, *shown), subject).left_out == (
        "Python 3.12 on bench-2c with other packages (1 subject in 2 environments)",
    )


@pytest.mark.parametrize(("number", "said"), [(1, "1 value was wrong"), (7, "7 values were wrong")])
def test_one_value_was_wrong_and_several_were(number: int, said: str) -> None:
    frame = factory.frame()
    sibling = factory.row(Cell("radon", "siblings", "NUMBA", "fork"), "wrong_results", number)
    panel = past(pd.concat([frame, factory.as_frame([sibling])])).wrong
    assert any(point.text.endswith(said) for point in panel.lines[0].points)


def test_words_say_since_when_the_cache_hits():
    assert past(factory.frame()).in_words[0] == (
        "warm_disk: no cache misses since 2.36.3; 2.36.0 had 12."
    )


def test_a_release_that_was_not_measured_is_a_gap_in_the_line():
    frame = factory.frame()
    gap = (frame.subject == "3.0.0") & (frame.metric == "compile_time")
    found = past(frame[~gap])
    drawing = geometry.time_drawings(found.times)[0]
    assert drawing is not None
    assert [len(stroke.paths) for stroke in drawing.strokes] == [2, 2, 2]
    assert found.times[0].table.rows[7][1:] == ("not measured",) * 3


def test_a_start_method_that_is_no_longer_measured_improves_nothing():
    rows = [
        factory.row(
            Cell("radon", "warm_disk", "NUMBA", launch), "cache_misses", value, subject=release,
            date=datetime(2026, month, 1, tzinfo=UTC),
        )
        for release, month, launch, value in (
            ("3.3.4", 5, "fork", 0), ("3.3.4", 5, "spawn", 5), ("3.3.7", 8, "fork", 0),
        )
    ]  # fmt: skip
    found = past(factory.as_frame(rows))
    assert found.in_words[0] == "warm_disk under fork: no cache misses in 2 releases."
    assert [row[1:] for row in found.misses[0].table.rows] == [("0", "5"), ("0", "not counted")]


def test_a_miss_under_one_launch_is_in_the_picture_and_the_table_says_which():
    rows = [
        factory.row(Cell("radon", "warm_disk", "NUMBA", launch), "cache_misses", value)
        for launch, value in (("fork", 0), ("spawn", 4))
    ]
    panel = past(factory.as_frame(rows)).misses[0]
    assert panel.lines[0].points[0].value == 4
    assert panel.table.header == ("release", "fork", "spawn")
    assert panel.table.rows == (("3.3.7", "0", "4"),)


def test_labels_of_the_last_values_never_cover_each_other():
    for drawing in geometry.time_drawings(past(factory.frame()).times):
        assert drawing is not None
        places = sorted(stroke.label_y for stroke in drawing.strokes)
        assert all(b - a >= geometry.LABEL_HEIGHT - 0.2 for a, b in pairwise(places))


def test_many_versions_are_thinned_and_the_newest_is_kept():
    labels = tuple(f"3.{minor}.0" for minor in range(75))
    ticks = geometry.thinned(labels, range(75), geometry.MOST_LABELS, str)
    assert len(ticks) <= geometry.MOST_LABELS
    assert ticks[-1].text == "3.74.0"


def test_wrong_results_among_siblings_are_told_along_the_releases():
    rows = [
        factory.row(
            Cell("radon", "siblings", "NUMBA", "fork"),
            "wrong_results",
            value,
            subject=version,
            date=datetime(2026, month, 1, tzinfo=UTC),
        )
        for version, value, month in (("2.36.3", 7.0, 1), ("2.38.3", 0.0, 2), ("3.3.7", 0.0, 3))
    ]
    found = past(factory.as_frame(rows))
    assert [point.value for point in found.wrong.lines[0].points] == [7.0, 0.0, 0.0]
    assert found.in_words[-1] == ("siblings: no wrong results since 2.38.3; 2.36.3 had 7.")


def test_the_story_keeps_its_picture_of_times_where_the_newest_release_was_counted_less():
    frame = factory.frame()
    last = list(factory.RELEASES)[-1]
    under = frame["launch"].eq("spawn") & frame["metric"].eq("cache_misses")
    for rows in (frame, frame[~(under & frame["subject"].eq(last))]):
        story = story_of(past(rows))
        assert story is not None
        assert (story.scenario, [title for title, *_ in story.panels]) == (
            "warm_disk", ["Misses", "Time"]
        )  # fmt: skip
