from __future__ import annotations

import zlib

import numpy as np
import pyarrow as pa
import pytest

from observatory.record.columns import Columns, Series, SeriesList
from observatory.record.shards import Block, Entry, Signature, encoded, parsed, together
from tests.factories_asv import Value, listed

SERIES = [Series("a"), Series("unused"), Series("b", (("1", "'\u00e9'"), ("x",)))]


def block(name: str, *values: tuple[int, int, float]) -> Block:
    """A file with values of series and position, and one without any."""
    entries = (
        Entry(name.encode(), Signature(1, 2**62, 3, 4), 5, b"\0" * 16, '["\u00e9"]', "[]"),
        Entry(b"\xff", Signature(6, 7, 8, 9), 10, b"", "", '[["broken", 3]]'),
    )
    series, position, value = (np.array(column) for column in zip(*values, strict=True))
    ints = np.arange(len(values), dtype=np.int32)
    columns = Columns(series.astype(np.int32), position.astype(np.int32), value.astype(float),
                      ints, value / 2, np.full(len(values), np.nan))  # fmt: skip
    return Block(entries, np.array([len(values), 0], np.int32), columns)


def plain(found: Block, series: SeriesList) -> list[Value]:
    return listed(found.columns, series.all)


def test_a_block_comes_back_as_it_was() -> None:
    made = block("x", (0, 0, 1.5), (2, 1, 2.5))
    series = SeriesList([Series("first")])
    found = parsed(encoded(made, SeriesList(SERIES)), series)
    assert found.entries == made.entries
    assert found.lengths.tolist() == [2, 0]
    assert plain(found, series) == plain(made, SeriesList(SERIES))
    assert [one.name for one in series.all] == ["first", "a", "b"]


def test_equal_blocks_are_equal_files() -> None:
    made = block("x", (0, 0, 1.5), (2, 1, 2.5))
    assert encoded(made, SeriesList(SERIES)) == encoded(made, SeriesList(SERIES))


def test_an_empty_block_comes_back_too() -> None:
    empty = Block((), np.empty(0, np.int32), Columns())
    found = parsed(encoded(empty, SeriesList()), SeriesList())
    assert (found.entries, len(found.columns)) == ((), 0)


def test_blocks_are_put_together_and_thinned_out_with_their_values() -> None:
    one, two = block("x", (0, 0, 1.0)), block("y", (2, 0, 2.0), (2, 1, 3.0))
    both = together([one, two])
    assert [entry.path for entry in both.entries] == [b"x", b"\xff", b"y", b"\xff"]
    assert both.columns.value.tolist() == [1.0, 2.0, 3.0]
    assert both.columns.value[both.rows_of(2)].tolist() == [2.0, 3.0]
    last = both.only(np.array([False, True, True, False]))
    assert [entry.path for entry in last.entries] == [b"\xff", b"y"]
    assert (last.lengths.tolist(), last.columns.value.tolist()) == ([0, 2], [2.0, 3.0])


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1PAR1", b"\0" * 1000])
def test_what_is_no_table_is_one_of_the_documented_errors(content: bytes) -> None:
    with pytest.raises((pa.ArrowException, zlib.error, LookupError, ValueError)):
        parsed(content, SeriesList())
