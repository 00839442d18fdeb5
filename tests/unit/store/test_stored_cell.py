"""A cell in a record: one type, read from what arrives from outside."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from observatory.benchmarks.catalogue import Cell
from observatory.store.records.sample import StoredCell

WORDS = {"model": "radon", "scenario": "cold", "backend": "C", "launch": "fork"}
CELLS: TypeAdapter[Cell] = TypeAdapter(StoredCell)


def test_a_cell_is_stored_as_an_object_of_its_words() -> None:
    cell = CELLS.validate_python(WORDS)
    assert cell == Cell("radon", "cold", "C", "fork")
    assert CELLS.dump_python(cell) == WORDS


@pytest.mark.parametrize(
    "hostile",
    [
        WORDS | {"model": "x" * 201},
        WORDS | {"more": "y"},
        WORDS | {"model": 1},
        {"model": "radon"},
        list(WORDS.values()),
        Cell("x" * 201, "cold", "C", "fork"),
    ],
)
def test_a_cell_of_other_or_of_long_words_is_refused(hostile: Any) -> None:
    with pytest.raises(ValidationError):
        CELLS.validate_python(hostile)
