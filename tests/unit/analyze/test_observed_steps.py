"""Every step that alerts tell is held against the values it was found in."""

from __future__ import annotations

import dataclasses
import tarfile
from pathlib import Path

import numpy as np
import pytest

from observatory.analyze.history.segments import SegmentedSeries, segmented
from observatory.analyze.history.series import series_of
from observatory.store.reading.read import read_results
from tests.factories_alerts import line, series, stepped
from tests.observed_steps import check

DATA = Path(__file__).parents[4] / "shared" / "data"


def tracks() -> list[SegmentedSeries]:
    drifting = stepped(160, 80, seed=9) * np.geomspace(1, 1.4, 160)
    rng = np.random.default_rng(4)
    slow = np.concatenate([np.zeros(40, bool), rng.permutation(np.arange(40) % 2 == 1)])
    modes = np.where(slow, 0.092, 0.0035) * np.exp(0.01 * rng.standard_normal(80))
    return list(segmented([
        series(line(80), stepped(80, 40)), series(line(160), drifting), series(line(80), modes),
    ]))  # fmt: skip


def test_medians_of_levels_are_what_is_told() -> None:
    found = check(tracks())
    assert found.wrong == []
    assert (found.steps, found.drifts, found.two_modes) == (3, 1, 1)


def test_a_level_that_was_not_observed_is_named() -> None:
    """As once: the old median times the estimated ratio of the two levels."""
    for track in tracks():
        steps = tuple(dataclasses.replace(s, after=s.before * s.ratio) for s in track.steps)
        vars(track)["_steps"] = steps
        if steps:
            assert any(": after is " in line for line in check([track]).wrong)


@pytest.mark.skipif(not DATA.is_dir(), reason="the results of other projects are not here")
def test_all_steps_of_another_project_were_observed(tmp_path: Path) -> None:
    with tarfile.open(DATA / "numba-benchmark.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    found = check(segmented(series_of(read_results(tmp_path / "numba-benchmark" / "results"))))
    assert found.steps > 400
    assert found.two_modes >= 10
    assert found.wrong == []
