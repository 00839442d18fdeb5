"""What is put aside comes back as if it had stayed in memory, and memory does not grow with it."""

from __future__ import annotations

import time
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from observatory.store.asv import result
from observatory.store.asv.columns import Columns, Series, SeriesList
from observatory.store.asv.result import Head, Parsed
from observatory.store.reading import aside, cache
from observatory.store.reading.aside import merged_in_ranges, put_aside
from observatory.store.reading.parts import KEYS, VALUES, Part, merged, part_of
from observatory.store.reading.read import Results, read_results
from tests.factories_asv import foreign, put, values

COLUMNS = [name for name, _ in (*KEYS, *VALUES)]

keys = st.sets(st.tuples(st.integers(0, 5), st.integers(0, 2), st.integers(0, 2)), max_size=40)
"""File, series and position of each value."""


def part_with(chosen: list[tuple[int, int, int]], files: list[int]) -> Part:
    """A part with a value of each key, which says what it is of."""
    at = np.array([files.index(file) for file, _, _ in chosen], np.int32)
    series, position = (np.array([key[n] for key in chosen], np.int32) for n in (1, 2))
    value = np.array([file + 10.0 * s + 100.0 * p for file, s, p in chosen])
    return part_of(files, at, Columns(series, position, value, at, value - 1, value + 1))


@given(keys, st.lists(st.integers(0, 2), min_size=6, max_size=6), st.integers(1, 9), st.data())
def test_in_ranges_parts_are_merged_as_in_memory(
    tmp_path_factory: pytest.TempPathFactory, chosen: set[tuple[int, int, int]],
    chunks: list[int], most: int, data: st.DataObject,
) -> None:  # fmt: skip
    files = data.draw(st.permutations(range(6)).map(lambda order: order[:4]))
    parts = []
    for chunk in range(3):
        own = sorted(key for key in chosen if chunks[key[0]] == chunk)
        parts.append(part_with(own, [n for n in range(6) if chunks[n] == chunk]))
    # What was kept may know series by other numbers, in another order.
    numbers = np.array(data.draw(st.permutations(range(3))), np.int32)
    parts[0] = replace(parts[0], series=numbers[parts[0].series])
    whole = merged(files, parts)
    place = tmp_path_factory.mktemp("aside")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(aside, "_RANGE", most)
        found = merged_in_ranges(files, [put_aside(one, place) for one in parts], place)
    assert found.files.tolist() == whole.files.tolist()
    for name in COLUMNS:
        assert getattr(found, name).tobytes() == getattr(whole, name).tobytes(), name
    assert not found.value.flags.owndata
    assert list(place.iterdir()) == []  # killed at any instant, nothing is left there


@pytest.fixture(autouse=True)
def _an_hour_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files have rested when they are read: it is an hour after they were written."""
    monkeypatch.setattr(cache, "_clock", lambda: time.time_ns() + 3600 * 10**9)


def few(monkeypatch: pytest.MonkeyPatch, waiting: int, at_once: int) -> None:
    """Only so many values may be in memory."""
    monkeypatch.setattr(cache, "MOST", waiting)
    monkeypatch.setattr(aside, "_RANGE", at_once)


def night(results: Path, number: int, machine: str = "ci", env: str = "x") -> None:
    """A file of eight values; benchmarks come and go."""
    rows = {f"time_{n}": [[n + number / 100, 1.0], [["1", "2"]]]
            for n in range(5) if (n + number) % 5}  # fmt: skip
    day = 1_700_000_000_000 + number * 86_400_000
    put(results, foreign(rows, env_name=env, date=day), f"{machine}-{number}.json")


def stored(where: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in where.glob("*.part")}


def test_few_values_in_memory_give_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = tmp_path / "results"

    def same(step: str) -> None:
        with monkeypatch.context() as patch:
            few(patch, 20, 7)
            found = read_results(results, tmp_path / "few")
        expected = read_results(results)
        assert sorted(values(found)) == sorted(values(expected)), step
        assert found.problems == expected.problems
        read_results(results, tmp_path / "many")
        assert stored(tmp_path / "few") == stored(tmp_path / "many"), step
        assert {path.suffix for path in (tmp_path / "few").iterdir()} == {".part", ".files"}

    for number in range(12):
        night(results, number)
        night(results, number, "other", f"env{number % 2}")
    same("from nothing")
    night(results, 12)
    same("one new file")
    (results / "ci" / "ci-3.json").unlink()
    night(results, 20, env="new")
    same("one is gone")
    for path in tmp_path.glob("*/*.part"):
        path.write_bytes(b"damaged")
    same("all is lost")


def test_where_nothing_can_be_put_aside_it_stays_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(12):
        night(tmp_path / "results", number)

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    few(monkeypatch, 20, 7)
    monkeypatch.setattr(aside, "Nameless", full)
    found = read_results(tmp_path / "results", tmp_path / "cache")
    assert sorted(values(found)) == sorted(values(read_results(tmp_path / "results")))


EACH = 2000
"""Values of a file."""


def peak(results: Path, where: Path) -> tuple[Results, float]:
    """What was read, and the most memory that values took meanwhile, in values of eight bytes."""
    tracemalloc.start()
    try:
        found = read_results(results, where)
        return found, tracemalloc.get_traced_memory()[1] / 8
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("lost", [False, True])
def test_memory_grows_with_a_part_and_not_with_the_values_of_a_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: bool
) -> None:
    """The first time, with one new file, and where what was kept is lost."""
    made = Series("time_x", (tuple(map(str, range(EACH))),))
    position = np.arange(EACH, dtype=np.int32)

    def parse(content: bytes, series: SeriesList) -> Parsed:
        number = int(content)
        head = Head("ci", f"{number:040}", "env", number, "3.12", {})
        of, value = np.full(EACH, series.number(made), np.int32), position + number / 7
        return Parsed(head, Columns(of, position, value, position, value, value), ())

    monkeypatch.setattr(result, "parse", parse)
    few(monkeypatch, 5 * EACH, 5 * EACH)
    peaks = []
    for files in (20, 160):
        results, where = tmp_path / f"{files}", tmp_path / f"cache-{files}"
        (results / "ci").mkdir(parents=True)
        for number in range(files):
            (results / "ci" / f"{number}.json").write_text(str(number))
        found, first = peak(results, where)
        assert len(found.values) == files * EACH
        for path in where.glob("*.part"):
            if lost:
                path.write_bytes(b"damaged")
        (results / "ci" / "new.json").write_text(str(files))
        found, then = peak(results, where)
        assert len(found.values) == (files + 1) * EACH
        peaks.append((first, then))
    small, large = peaks
    # Eight times as many values: if they waited in memory, the peak would be 7 times as high.
    assert max(large) < 2 * max(small)
