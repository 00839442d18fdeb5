"""Deleting files of a cache that no process uses."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

_PROCESSES = Path("/proc")


@dataclass
class Deleted:
    """What was deleted, and what was not, with the reason."""

    paths: list[Path] = field(default_factory=list)
    size: int = 0
    """Bytes."""
    kept: list[tuple[Path, str]] = field(default_factory=list)


def delete(paths: Iterable[Path]) -> Deleted:
    """Delete files, and directories of C modules, except those that a process uses.

    A process uses a file that it has open or mapped. While a C module is deleted, PyTensor's lock
    of its directory is held; if a process holds it, the module is kept.
    """
    done = Deleted()
    used = in_use()
    with ExitStack() as stack:
        locked: dict[Path, bool] = {}
        for path in paths:
            if (process := _user(path, used)) is not None:
                done.kept.append((path, f"process {process} uses it"))
                continue
            try:
                free = not path.is_dir() or _lock(path.parent, locked, stack)
            except OSError as error:
                done.kept.append((path, error.strerror or str(error)))
                continue
            if free:
                _delete(path, done)
            else:
                done.kept.append((path, "a process is compiling in its directory"))
    return done


def in_use() -> dict[Path, int]:
    """The files that processes have open or mapped, and one process for each.

    Processes of other users are visible to root only.
    """
    used: dict[Path, int] = {}
    for process in _PROCESSES.iterdir():
        if process.name.isdigit():
            # It may end at any moment, or belong to somebody else.
            with suppress(OSError):
                for link in (process / "fd").iterdir():
                    with suppress(OSError):
                        used[link.readlink()] = int(process.name)
            with suppress(OSError, UnicodeError):
                for line in (process / "maps").read_text().splitlines():
                    name = line.partition("/")[2]
                    if name:
                        used[Path("/" + name)] = int(process.name)
    return used


def _user(path: Path, used: dict[Path, int]) -> int | None:
    whole = path.resolve()
    for file in (whole, *_below(whole)):
        if file in used:
            return used[file]
    return None


def _below(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from path.rglob("*")


def _lock(compiledir: Path, locked: dict[Path, bool], stack: ExitStack) -> bool:
    """Hold PyTensor's lock of a directory until the stack closes; whether that succeeded."""
    if compiledir not in locked:
        locked[compiledir] = stack.enter_context(_held(compiledir / ".lock"))
    return locked[compiledir]


@contextmanager
def _held(path: Path) -> Iterator[bool]:
    """PyTensor locks with ``filelock``, which uses flock."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)


def _delete(path: Path, done: Deleted) -> None:
    try:
        size = sum(one.lstat().st_size for one in (path, *_below(path)) if not one.is_dir())
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    except OSError as error:
        done.kept.append((path, error.strerror or str(error)))
    else:
        done.paths.append(path)
        done.size += size
