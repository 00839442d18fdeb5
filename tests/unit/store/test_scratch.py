"""Temporary directories: gone after use, after a killed process too, and nobody else's."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import tempfile
from pathlib import Path

import pytest

from observatory.store.base.locking import locked_at_once
from observatory.store.base.scratch import temporary

PREFIX = "observatory-tried-"


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory for temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def left_by_a_killed_process(directory: Path) -> Path:
    child = os.fork()
    if child == 0:
        with temporary(PREFIX) as made:
            (made / "large").write_bytes(b"0")
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    (left,) = directory.glob(f"{PREFIX}*")
    return left


def test_the_next_one_removes_what_a_killed_process_left(directory: Path) -> None:
    left = left_by_a_killed_process(directory)
    assert (left / "inside" / "large").exists()
    with temporary(PREFIX) as first:
        assert not left.exists()
        with temporary(PREFIX) as second:
            assert {first.parent, second.parent} == {*directory.iterdir()}
    assert [*directory.iterdir()] == []


def test_the_lock_of_the_directory_is_free(directory: Path) -> None:
    """As whoever merges or publishes results takes it."""
    with temporary(PREFIX) as made, locked_at_once(made) as ours:
        assert ours


def test_where_directories_cannot_be_locked_nothing_is_removed_and_nothing_fails(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on NFS, which locks only what was opened to write."""
    left = left_by_a_killed_process(directory)

    def refused(*_: object) -> None:
        raise OSError(errno.EBADF, "Bad file descriptor")

    monkeypatch.setattr(fcntl, "flock", refused)
    with temporary(PREFIX) as made:
        assert made.is_dir()
    assert [*directory.iterdir()] == [left]


def test_a_link_and_a_file_of_that_name_stay(directory: Path) -> None:
    of_others = directory / "of-others"
    of_others.mkdir()
    (of_others / "kept").touch()
    (directory / f"{PREFIX}link").symlink_to(of_others)
    (directory / f"{PREFIX}file").touch()
    with temporary(PREFIX):
        pass
    assert (of_others / "kept").exists()
    assert (directory / f"{PREFIX}file").exists()


def test_what_belongs_to_another_user_stays(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = left_by_a_killed_process(directory)
    us = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: us + 1)
    with temporary(PREFIX):
        pass
    assert left.exists()
