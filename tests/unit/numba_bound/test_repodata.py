"""What is found in the index of a channel, wherever it is cut, and what it takes to find it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import repeat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observatory.numba_bound import repodata as module
from observatory.numba_bound.repodata import RepodataError, releases
from tests.factories_numba_bound import repodata
from tests.hostile.memory import in_fork


def found(*pieces: bytes) -> list[str]:
    return sorted(map(str, releases(pieces)))


FILE = "numba-0.68.0-py312h0_0.conda"
ODD = json.dumps(
    {
        "info": {"note": 'a "quoted" } and \\ \\" [', "removed": "x"},
        "packages": {"x-1.0-0.conda": {"license": f'"{FILE}": {{', "version": "0.1"}},
        "packages.conda": {FILE: {}, FILE.replace("0.68.0", "0.66.0"): {"depends": ["a \\", "b"]}},
        "removed": [FILE.replace("0.68.0", "0.67.0")],
    },
    indent=1,
).encode()


@pytest.mark.parametrize("content", [ODD, repodata("0.66.0", "0.68.0", "0.69.0rc1")])
def test_it_does_not_matter_where_the_content_is_cut(content: bytes) -> None:
    for at in range(len(content)):
        assert found(content[:at], content[at:]) == ["0.66.0", "0.68.0"]
    assert found(*(content[at : at + 1] for at in range(len(content)))) == ["0.66.0", "0.68.0"]


@given(st.text(alphabet='\\"{},:a\x00é'))
def test_texts_of_records_neither_open_nor_close_nor_name_anything(text: str) -> None:
    records = {"a-1-0.conda": {text: [text, f'"{FILE}": {text}', f"x{text}{FILE}"]}}
    assert found(json.dumps({"packages.conda": records}).encode()) == []
    listed = {text: text, "packages": {**records, FILE: {}}}
    assert found(json.dumps(listed).encode()) == ["0.68.0"]


@pytest.mark.parametrize(
    "content",
    [b"{}", b' \n{"packages": [], "packages.conda": 3, "removed": {}}',
     b'{"packages": {"a": null, "numba-x-0.conda": {}, "numba-1.0-0.zip": {}, "numba-1.0": {}}}',
     b'{"packages": {"numba-\xff1.0-0.conda": {}, "numba-1.0dirty~-0.conda": {}}}'],
)  # fmt: skip
def test_shapes_that_nobody_expects_hold_no_numba(content: bytes) -> None:
    assert found(content) == []


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is not a JSON object"),
        (b"[1]", "is not a JSON object"),
        (b"[" * 100_000, "is not a JSON object"),
        (b"<html>", "is not a JSON object"),
        (b"{" * 100_000, "is cut off"),
        (b'{"a": "', "is cut off"),
        (b'{"a": {"b": 1},', "is cut off"),
        (b'{"a": "' + b"x" * 2**20, "has more than 1,048,576 bytes without a comma"),
    ],
)
def test_what_is_no_whole_index_is_refused(content: bytes, why: str) -> None:
    with pytest.raises(RepodataError, match=why):
        found(content)


def test_only_so_many_files_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_FILES", 2)
    assert found(repodata("0.1", "0.2")) == ["0.1", "0.2"]
    with pytest.raises(RepodataError, match="lists more than 2 files of numba"):
        found(repodata("0.1", "0.2", removed=["numba-0.3-0.conda"]))


def _large() -> Iterator[bytes]:
    """50 MB, with as many files of numba as are kept, each of another release."""
    yield b'{"packages.conda": {'
    files = (b'"numba-0.%d-%.100d_0.conda": {},' % (at, at) for at in range(module._MOST_FILES))
    yield b"".join(files)
    record = b'"x-1.0-0.conda": {"depends": ["python >=3.12,<3.13.0a0"], "license": "a \\"{"},'
    piece = record * (2**18 // len(record))
    yield from repeat(piece, 200)
    yield b'"numba-1.0-0.conda": {}}}'


def test_memory_does_not_grow_with_the_index() -> None:
    def read(_: bytes, __: Path) -> None:
        with pytest.raises(RepodataError, match="more than 20,000 files"):
            releases(_large())

    megabytes, ending = in_fork(read, b"")
    assert ending == "read"
    assert megabytes < 30
