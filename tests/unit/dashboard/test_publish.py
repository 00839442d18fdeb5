"""Pages in their place, and files that are added to them: whole, whatever is killed."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from observatory.dashboard import publish as module
from observatory.dashboard.publish import (
    MARKER,
    NotOurDirectoryError,
    add,
    add_or_write,
    publish,
    refuse_foreign,
    restore,
)

OLD = {"index.html": b"old", "data/a.json": b"same"}
NEW = {"index.html": b"new", "data/a.json": b"same", "data/b.json": b"more"}
PICTURE = "pictures/newest.svg"
CHANGES = {"open", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "fcntl.flock"}
"""The events of Python's audit hooks before a file or its lock changes, or is only opened."""


def pages(out: Path) -> dict[str, bytes]:
    """The files of a site without its marker, which has to list them all."""
    refuse_foreign(out)
    there = {str(one.relative_to(out)): one.read_bytes() for one in out.rglob("*") if one.is_file()}
    del there[MARKER]
    return there


def killed_at(event: int, work: Callable[[], object]) -> bool:
    """Do it in another process, which is killed before the n-th change of files; whether it was."""

    left = event

    def kill(name: str, arguments: tuple[Any, ...]) -> None:
        nonlocal left
        left -= name in CHANGES
        if left == -1 and name in CHANGES:
            if name == "open" and arguments[2] & os.O_TRUNC:
                os.open(arguments[0], arguments[2])  # of such a change, the beginning is the worst
            os.kill(os.getpid(), signal.SIGKILL)

    child = os.fork()
    if child == 0:
        try:
            sys.addaudithook(kill)
            work()
            os._exit(0)
        finally:
            os._exit(1)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert ended in (0, -signal.SIGKILL)
    return ended != 0


def test_pages_are_whole_after_a_kill_at_any_instant(tmp_path: Path) -> None:
    out = tmp_path / "html"
    publish(OLD.items(), out)
    found, moved_away, event = [], 0, 0
    while killed_at(event, lambda: publish(NEW.items(), out)):
        moved_away += not out.exists()
        restore(out)
        found.append(pages(out))
        assert found[-1] in (OLD, NEW)
        assert [one.name for one in tmp_path.iterdir()] == ["html"]
        publish(OLD.items(), out)
        event += 1
    assert pages(out) == NEW
    assert OLD in found
    assert NEW in found
    assert moved_away


def test_an_added_file_never_makes_pages_somebody_elses(tmp_path: Path) -> None:
    out = tmp_path / "html"
    publish(OLD.items(), out)
    found, event = [], 0
    while killed_at(event, lambda: add_or_write(out / PICTURE, b"<svg/>")):
        found.append(pages(out))
        assert found[-1] in (OLD, {**OLD, PICTURE: b"<svg/>"})
        publish(OLD.items(), out)
        assert [one.name for one in tmp_path.iterdir()] == ["html"]
        event += 1
    assert pages(out) == {**OLD, PICTURE: b"<svg/>"}
    assert OLD in found


def test_an_added_file_stays_until_pages_are_published(tmp_path: Path) -> None:
    out = tmp_path / "html"
    publish(OLD.items(), out)
    for content in (b"one", b"two", b"two"):
        add(out, PICTURE, content)
        assert pages(out) == {**OLD, PICTURE: content}
    assert [one.name for one in tmp_path.iterdir()] == ["html"]
    publish(NEW.items(), out)
    assert pages(out) == NEW
    (out / PICTURE).parent.mkdir()
    (out / PICTURE).write_bytes(b"somebody's")
    with pytest.raises(NotOurDirectoryError):
        refuse_foreign(out)


def test_an_interruption_puts_the_old_pages_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "html"
    publish(OLD.items(), out)
    rename = Path.rename

    def interrupted(path: Path, target: Path) -> Path:
        if path.name == "new":
            raise KeyboardInterrupt
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        publish(NEW.items(), out)
    assert pages(out) == OLD
    assert [one.name for one in tmp_path.iterdir()] == ["html"]


def test_what_another_process_is_writing_is_left_to_it(tmp_path: Path) -> None:
    out = tmp_path / "html"

    def files() -> Iterator[tuple[str, bytes]]:
        yield "index.html", b"first"
        publish(OLD.items(), out)
        yield "more.html", b"first"

    publish(files(), out)
    assert pages(out) == {"index.html": b"first", "more.html": b"first"}


def test_what_has_such_a_name_and_is_no_directory_of_ours_stays(tmp_path: Path) -> None:
    out, others = tmp_path / "html", tmp_path / "others"
    (others / "old").mkdir(parents=True)
    name = module._beside(out)
    (tmp_path / f"{name}link").symlink_to(others)
    (tmp_path / f"{name}file").touch()
    restore(out)
    assert not out.exists()
    assert (others / "old").is_dir()
    assert (tmp_path / f"{name}file").exists()
