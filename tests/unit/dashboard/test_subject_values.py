"""The values of subjects over all series: the same however few of them are in memory at once."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from observatory.analyze.history.segments import SegmentedSeries
from observatory.analyze.history.series import Series
from observatory.dashboard import subject_values
from observatory.dashboard.subject_values import subject_blocks
from observatory.store.asv.columns import Columns
from observatory.store.base.nameless import Nameless
from observatory.store.reading.aside import put_aside
from observatory.store.reading.parts import part_of
from tests.factories_alerts import line, series


def site(directory: Path, many: int, subjects: int) -> Any:
    """Tracks of noise on one line; their values are in a file, and some subjects have none."""
    number, at = np.meshgrid(np.arange(many), np.arange(subjects), indexing="ij")
    there = ((number + at) % 7 > 0).ravel()
    of, at = (one.ravel()[there].astype(np.int32) for one in (number, at))
    values = np.random.default_rng(0).normal(1, 0.1, len(at))
    n = np.full(len(at), 9, np.int32)
    columns = Columns(of, np.zeros_like(of), values, n, values - 1, values + 1)
    part = put_aside(part_of(range(subjects), at, columns), directory)
    on, place = line(subjects), series(line(2), [1.0, 2.0]).place
    tracks = []
    for key in range(many):
        one = Series(on, place._replace(model="", scenario=f"s{key}"), part, key)
        kind = ("judged", "described", "unfit")[key % 3]
        tracks.append(SegmentedSeries(one, kind, None, (0, len(one))))
    return SimpleNamespace(tracks=tracks, let_go=part.let_go)


def said(found: Any) -> Any:
    blocks = subject_blocks(found, range(len(found.tracks)), found.tracks.__getitem__)
    return [
        {place: {name: column.tolist() for name, column in own.items()}
         for place, own in blocks.of(block).items()}
        for block in (*blocks.numbers, blocks.numbers[0])
    ]  # fmt: skip


@pytest.mark.parametrize("full", [False, True])
def test_few_values_at_once_give_the_same_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full: bool
) -> None:
    """Also where no file can be written."""
    found = site(tmp_path, 30, 50)
    expected = said(found)
    assert [len(block) for block in expected] == [16, 16, 16, 2, 16]
    assert {*expected[0][0]} == {"i", "v", "l", "o", "lo", "hi"}

    def refused(*_: Any) -> Nameless:
        raise OSError(28, "No space left on device")

    if full:
        monkeypatch.setattr(subject_values, "Nameless", refused)
    for most in (1, 100):
        monkeypatch.setattr(subject_values, "MOST", most)
        assert repr(said(found)) == repr(expected)  # NaN is no other NaN


def peak(found: Any) -> int:
    """The most bytes that making all blocks, one after another, takes at once."""
    tracemalloc.start()
    try:
        blocks = subject_blocks(found, range(len(found.tracks)), found.tracks.__getitem__)
        for block in blocks.numbers:
            assert blocks.of(block)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_grows_with_a_block_and_not_with_the_values_of_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject_values, "MOST", 5000)
    small, large = (peak(site(tmp_path, 200, subjects)) for subjects in (64, 512))
    assert large < 2 * small
    monkeypatch.setattr(subject_values, "MOST", 10**9)
    assert peak(site(tmp_path, 200, 512)) > 4 * small  # this can fail
