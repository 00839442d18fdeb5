"""Values come out of a part as they went in, whichever files and parts they are from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from observatory.store.asv.columns import Columns, Series, SeriesList
from observatory.store.reading.parts import Part, digest_of, encoded, mapped, merged, part_of

KEY = b"this version"
NAMES = [Series("a"), Series("b", (("1", "2", "3"),)), Series("c", (("x", "y"),))]
Row = tuple[int, int, int, float, int, float, float]
"""File, series, position, value, samples, and both ends of the interval."""

rows = st.lists(
    st.tuples(
        st.integers(0, 5), st.integers(0, 2), st.integers(0, 2), st.floats(-9, 9),
        st.integers(0, 9), st.floats(0, 1), st.floats(1, 2),
    ),
    unique_by=lambda row: row[:3], max_size=40,
)  # fmt: skip


def columns(found: list[Row]) -> Columns:
    kinds = (np.int32, np.int32, np.float64, np.int32, np.float64, np.float64)
    each = [np.array([row[place] for row in found], kind) for place, kind in enumerate(kinds, 1)]
    return Columns(*each)


def part(found: list[Row], files: list[int]) -> Part:
    at = np.array([files.index(row[0]) for row in found], np.int32)
    return part_of(files, at, columns(found))


def put(path: Path, sources: list[str], made: Part) -> None:
    path.write_bytes(b"".join(encoded(sources, made, SeriesList(NAMES), KEY)))


def said(one: Part) -> list[Row]:
    """What a part holds, in its order."""
    every = [one.file, *one.columns.arrays()]
    return list(zip(*(column.tolist() for column in every), strict=True))


@given(rows, st.permutations(range(6)))
def test_values_are_sorted_by_series_position_and_file(found: list[Row], files: list[int]) -> None:
    made = part(found, files)
    assert said(made) == sorted(found, key=lambda row: (*row[1:3], files.index(row[0])))
    for key, (start, stop) in enumerate(zip(made.starts, made.starts[1:], strict=False)):
        own = slice(start, stop)
        values = made.value[own]
        assert (made.low[key], made.high[key]) == (values.min(), values.max())
        every = (made.at, made.value, made.n, made.ci_low, made.ci_high)
        assert made.digests[key].tobytes() == digest_of(*(column[own] for column in every))


@given(rows, st.sets(st.integers(0, 5)))
def test_in_pieces_it_is_the_same_part(found: list[Row], kept: set[int]) -> None:
    old, files = sorted(kept), list(range(6))
    before = part([row for row in found if row[0] in kept], old)
    more = [(n, columns([r for r in found if r[0] == n])) for n in files if n not in kept]
    whole, pieces = part(found, files), merged(files, [before], more)
    assert said(whole) == said(pieces)
    assert whole.digests.tolist() == pieces.digests.tolist()
    # Files that are gone take their values with them.
    left = merged(old, [whole])
    assert said(left) == said(before)
    assert left.digests.tolist() == before.digests.tolist()


@given(rows)
def test_what_is_kept_is_what_was_made(
    tmp_path_factory: pytest.TempPathFactory, found: list[Row]
) -> None:
    path = tmp_path_factory.mktemp("parts") / "a.part"
    made, names = part(found, list(range(6))), SeriesList(NAMES)
    put(path, ["one", "two"], made)
    # Who reads it may know other series, or know them by other numbers.
    others = SeriesList([Series("z"), *reversed(NAMES)])
    sources, kept = mapped(path, others, KEY)
    assert sources == ["one", "two"]
    kept = replace(kept, files=made.files)
    renamed = [(row[0], others.all[row[1]].name, *row[2:]) for row in said(kept)]
    assert renamed == [(row[0], names.all[row[1]].name, *row[2:]) for row in said(made)]
    with pytest.raises(ValueError, match="damaged"):
        mapped(path, others, b"another version")


def test_values_are_not_read_but_mapped(tmp_path: Path) -> None:
    path = tmp_path / "a.part"
    put(path, ["x"], part([(0, 0, 0, 1.5, 1, 0.0, 2.0)], [0]))
    _, kept = mapped(path, SeriesList(NAMES), KEY)
    assert not kept.value.flags.owndata
    assert not kept.value.flags.writeable


def resident(file: Path) -> int:
    """The kilobytes of a mapped file that are in the memory of this process."""
    lines = iter(Path("/proc/self/smaps").read_text().splitlines())
    kilobytes = 0
    for line in lines:
        if line.endswith(str(file)):
            kilobytes += next(int(each.split()[1]) for each in lines if each.startswith("Rss:"))
    return kilobytes


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="only Linux says what is mapped")
def test_values_that_were_let_go_are_not_in_memory(tmp_path: Path) -> None:
    file = tmp_path / "a.part"
    put(file, ["one"], part([(0, 0, 0, 1.5, 1, 1.0, 2.0)], [0]))
    kept = mapped(file, SeriesList(NAMES), KEY).part
    assert kept.value.tolist() == [1.5]
    assert resident(file) > 0
    kept.let_go()
    assert resident(file) == 0


def test_values_that_were_let_go_are_read_again(tmp_path: Path) -> None:
    made = part([(0, 0, 0, 1.5, 1, 1.0, 2.0), (1, 0, 0, 2.5, 1, 2.0, 3.0)], [0, 1])
    put(tmp_path / "a.part", ["one", "two"], made)
    kept = mapped(tmp_path / "a.part", SeriesList(NAMES), KEY).part
    for one in (made, kept):
        for _ in range(2):
            assert one.value.tolist() == [1.5, 2.5]
            one.let_go()
    # Whoever replaces the file leaves the values of those who read it.
    (tmp_path / "other").write_bytes(b"")
    (tmp_path / "other").replace(tmp_path / "a.part")
    kept.let_go()
    assert kept.value.tolist() == [1.5, 2.5]
