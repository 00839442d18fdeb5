from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from observatory.store.base.files import (
    check_writable,
    files_below,
    read_bounded,
    write_atomic,
)
from observatory.store.base.problems import RecordError, RecordUsageError


def test_the_content_is_there_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.json"
    write_atomic(path, b"one")
    write_atomic(path, b"two")
    assert path.read_bytes() == b"two"
    assert list(path.parent.iterdir()) == [path]


def test_a_failure_leaves_the_old_content_and_no_temporary_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.json"
    write_atomic(path, b"old")

    def full(descriptor: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="disk full"):
        write_atomic(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_no_file_is_written_to_and_stays(tmp_path: Path) -> None:
    """As root, a rename would replace /dev/null for the whole system."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_atomic(pipe, b"content")
        assert os.read(reader, 100) == b"content"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert list(tmp_path.iterdir()) == [pipe]


def test_a_file_that_tells_no_size_is_read_to_its_end() -> None:
    """Files of /proc do so, and one that somebody else writes tells too little."""
    content = read_bounded(Path("/proc/self/status"), 2**20, "")
    assert content is not None
    assert content.startswith(b"Name:")
    assert b"ctxt_switches" in content
    with pytest.raises(RecordError, match="larger than 10 bytes"):
        read_bounded(Path("/proc/self/status"), 10, "")


@pytest.mark.parametrize(("size", "most"), [(0, 0), (5, 5), (5, 9)])
def test_a_file_of_at_most_so_many_bytes_is_read(size: int, most: int, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * size)
    assert read_bounded(tmp_path / "a", most, "") == b"x" * size
    (tmp_path / "a").write_bytes(b"x" * (most + 1))
    with pytest.raises(RecordError, match="larger"):
        read_bounded(tmp_path / "a", most, "")


def test_a_directory_that_vanishes_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("b.json", "gone/x.json", "here/a.json", "here/a.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    scan = os.scandir

    def vanishing(path: str) -> object:
        if path.endswith("gone"):
            raise FileNotFoundError(path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", vanishing)
    assert files_below(tmp_path, "*.json") == [tmp_path / "b.json", tmp_path / "here" / "a.json"]


def test_a_directory_that_can_be_made_or_written_is_left_as_it_is(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "not" / "there"):
        check_writable(place, "--results")
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_can_be_neither_made_nor_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    for name, verb in (("file", "written"), ("file/below", "made"), ("link", "written")):
        said = f"^--results {tmp_path / name} cannot be {verb}: .*; give another directory$"
        with pytest.raises(RecordUsageError, match=said):
            check_writable(tmp_path / name, "--results")
