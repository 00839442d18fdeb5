"""The lock: who replaces a file and who appends to it never lose each other's lines."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from observatory.store.base.files import write_atomic
from observatory.store.base.locking import locked, locked_at_once, locked_content

APPEND = """
import sys
from pathlib import Path
from observatory.store.base.locking import locked_content
for number in range(50):
    with locked_content(Path(sys.argv[1])) as stream:
        stream.write(f"{sys.argv[2]} {number}\\n".encode())
"""


def test_the_lock_of_a_file_or_directory_is_free_again_after_an_error(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "lock"):
        try:
            with locked(path):
                raise RuntimeError
        except RuntimeError:
            waited: list[int] = []
            with locked(path, lambda: waited.append(1)):  # noqa: B023
                assert waited == []


def test_a_file_that_is_missing_while_a_directory_is_locked_is_named(tmp_path: Path) -> None:
    def missed() -> None:
        with locked_at_once(tmp_path / "a") as ours:
            assert ours
            (tmp_path / "nowhere").read_bytes()

    with pytest.raises(FileNotFoundError, match="nowhere"):
        missed()
    with locked_at_once(tmp_path / "a") as ours:
        assert ours


def test_a_directory_that_goes_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, gone = os.open, []

    def removed_first(path: Path, *flags: int) -> int:
        if not gone:
            gone.append(path)
            Path(path).rmdir()
        return opened(path, *flags)

    monkeypatch.setattr(os, "open", removed_first)
    with locked_at_once(tmp_path / "a") as ours:
        assert ours
        assert (tmp_path / "a").is_dir()
    assert gone == [tmp_path / "a"]


def test_an_empty_file_is_removed_and_what_is_no_file_stays(tmp_path: Path) -> None:
    """As root, it would remove /dev/null for the whole system."""
    with locked_content(tmp_path / "journal"):
        pass
    device = tmp_path / "device"
    device.symlink_to(os.devnull)
    with locked_content(device) as stream:
        stream.write(b"lost")
    assert list(tmp_path.iterdir()) == [device]


def test_an_append_that_waited_goes_into_the_file_that_replaced_the_other(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.write_bytes(b"old\n")
    opened = threading.Event()

    def append() -> None:
        opened.set()
        with locked_content(path) as stream:
            stream.write(b"new\n")

    with locked_content(path):
        thread = threading.Thread(target=append)
        thread.start()
        assert opened.wait(30)
        thread.join(0.2)  # it waits for the lock of the file that is replaced now
        write_atomic(path, b"compact\n")
    thread.join(120)
    assert path.read_bytes() == b"compact\nnew\n"


def test_appending_and_replacing_at_the_same_time_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    writers = [
        subprocess.Popen([sys.executable, "-c", APPEND, str(path), name]) for name in ("a", "b")
    ]
    while any(writer.poll() is None for writer in writers):
        with locked_content(path) as stream:
            stream.seek(0)
            write_atomic(path, stream.read())
    lines = path.read_bytes().splitlines()
    assert sorted(lines) == sorted(f"{name} {n}".encode() for name in "ab" for n in range(50))


def test_a_file_to_which_nothing_was_added_is_not_left_behind(tmp_path: Path) -> None:
    with locked_content(tmp_path / "journal"):
        pass
    assert list(tmp_path.iterdir()) == []
