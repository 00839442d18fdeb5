from __future__ import annotations

import hashlib
import zlib

import pytest

from observatory.objects import index
from observatory.objects.bucket import StoreError
from observatory.objects.index import (
    Entry,
    combined,
    is_path,
    packed,
    pieces,
    to_merge,
    unpacked,
)

SHA = "a" * 64
ENTRY = Entry("samples/bench/a.jsonl", SHA, 10, SHA, 0, 8)


def named(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_a_segment_says_what_it_was_told() -> None:
    listed = {"samples/bench/a.jsonl": ENTRY, "alerts.json": None}
    content = packed(listed)
    assert unpacked(named(content), content) == listed
    assert unpacked(named(packed({})), packed({})) == {}


@pytest.mark.parametrize(
    "path",
    ["../a", "a/../b", "/a", "a//b", "a/.b", "", "a b", "a\tb", "a\nb", "a/" * 9 + "a", "ä"],
)
def test_a_path_that_could_lead_elsewhere_is_in_no_segment(path: str) -> None:
    assert not is_path(path)
    line = ENTRY.line.replace("samples/bench/a.jsonl", path)
    content = zlib.compress(line.encode())
    with pytest.raises(StoreError, match="has a line that is not an entry"):
        unpacked(named(content), content)


@pytest.mark.parametrize("path", ["a", "benchmarks.json", "x/a+b_c-d.1.json", "_x/-y"])
def test_the_names_of_results_are_paths(path: str) -> None:
    assert is_path(path)


@pytest.mark.parametrize(
    "line",
    [
        f"a\t{SHA}\t1\t{SHA}\t0",
        f"a\t{SHA}\t-1\t{SHA}\t0\t1",
        f"a\t{SHA}\t1\t../x\t0\t1",
        "a",
        "a\t",
    ],
)
def test_a_line_that_is_cut_or_wrong_is_refused(line: str) -> None:
    content = zlib.compress(line.encode())
    with pytest.raises(StoreError, match="has a line that is not an entry"):
        unpacked(named(content), content)


def test_a_file_of_any_size_is_refused_before_it_is_read() -> None:
    content = packed({"a": Entry("a", SHA, index.LARGEST_FILE + 1, SHA, 0, 1)})
    with pytest.raises(StoreError, match="has a file above"):
        unpacked(named(content), content)


def test_a_segment_is_uncompressed_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "LARGEST_SEGMENT", 1000)
    content = zlib.compress(b"a" * 100_000)
    with pytest.raises(StoreError, match="larger than it says"):
        unpacked(named(content), content)


def test_a_segment_of_very_many_short_lines_is_refused_before_they_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(index, "MOST_READ", 1000)
    content = zlib.compress(b"a\t-\n" * 1000)
    with pytest.raises(StoreError, match="lists more than 1,000 files"):
        unpacked(named(content), content)


@pytest.mark.parametrize(("bound", "value"), [("MOST_LISTED", 10), ("LARGEST_SEGMENT", 2500)])
def test_what_is_too_much_for_a_segment_is_in_several(
    monkeypatch: pytest.MonkeyPatch, bound: str, value: int
) -> None:
    monkeypatch.setattr(index, bound, value)
    listed = {f"n{n:02}": Entry(f"n{n:02}", SHA, n, SHA, 0, 8) for n in range(25)}
    parts = list(pieces(listed))
    assert [len(part) for part in parts][:2] in ([10, 10], [17, 8])
    together = [unpacked(named(packed(part)), packed(part)) for part in parts]
    assert combined(together) == listed
    assert list(pieces({})) == [{}]


def test_a_later_segment_wins_and_may_take_away() -> None:
    other = Entry("b", SHA, 1, SHA, 0, 1)
    newer = Entry("b", "b" * 64, 1, SHA, 0, 1)
    assert combined([{"a": ENTRY, "b": other}, {"a": None, "b": newer}]) == {"b": newer}


def test_a_line_is_written_again_only_as_often_as_the_whole_doubles() -> None:
    files: list[int] = []
    written = 0
    for _ in range(1000):
        files.append(10)
        number = to_merge(files)
        merged = sum(files[-number:])
        files = [*files[:-number], merged]
        written += merged
    assert len(files) <= 10
    assert written <= 10 * 1000 * 10
