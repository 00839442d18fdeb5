"""The one kind of lock that the observatory uses: `flock` on an open file or directory.

The kernel frees the lock when the last descriptor is closed, so that nobody who returns, raises or
is killed blocks others; a process that inherits the descriptor keeps the lock. Locks are advisory
and hold between processes of one machine.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

_HANDED_OVER = 10.0
"""Seconds after which a process that waited for a lock, and has not taken it, must have ended."""


@contextlib.contextmanager
def locked(path: Path, on_wait: Callable[[], object] | None = None) -> Iterator[int]:
    """Hold the lock of a directory, or of a file that only serves as a lock; yield its descriptor.

    The file is created if it does not exist, and it stays. If somebody else holds the lock,
    ``on_wait`` is called once and this waits. Raises OSError if ``path`` cannot be opened.
    """
    # NFS gives an exclusive lock only to those who opened a file to write.
    flags = os.O_RDONLY if path.is_dir() else os.O_RDWR | os.O_CREAT
    descriptor = os.open(path, flags | os.O_CLOEXEC, 0o644)
    try:
        _take(descriptor, on_wait)
        yield descriptor
    finally:
        # Closed and not unlocked: LOCK_UN would take the lock from processes that inherited it.
        os.close(descriptor)


@contextlib.contextmanager
def locked_at_once(directory: Path) -> Iterator[bool]:
    """Make a directory and hold its lock, or yield False if somebody else holds it.

    Whoever holds the lock may remove the directory: then it is made again. Raises OSError.
    """
    while True:
        descriptor = _made(directory)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            if _is_at(directory, descriptor):
                yield True
                return
        finally:
            os.close(descriptor)


def shared_lock(directory: Path) -> int:
    """Make a directory and hold its lock together with others; return the descriptor to close.

    This waits for who holds the lock alone, and may remove the directory. Raises OSError.
    """
    while True:
        descriptor = _made(directory)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH)
            if _is_at(directory, descriptor):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _made(directory: Path) -> int:
    """Make a directory, unless it is there, and open it; somebody may remove it meanwhile."""
    while True:
        directory.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            return os.open(directory, os.O_RDONLY | os.O_CLOEXEC)


@contextlib.contextmanager
def in_turn(directory: Path) -> Iterator[None]:
    """Let one process at a time change what is in a directory.

    Some network file systems do not lock directories: there, and where there is no such directory,
    nobody waits.
    """
    with contextlib.ExitStack() as held:
        if directory.is_dir():  # a lock of what is not there would be a file
            with contextlib.suppress(OSError):
                held.enter_context(locked(directory))
        yield


def holder_of(path: Path) -> int | None:
    """The process that took the lock of a file or directory; None where the kernel does not say.

    Linux lists locks in /proc/locks, with the device and the inode of each. A process of another
    container is not named there.
    """
    held = (process for process, waits in _listed(path) if not waits and process > 0)
    return next(held, None)


def is_waited_for(path: Path) -> bool:
    """Whether another process waits for the lock; False where the kernel does not say."""
    return any(waits for _, waits in _listed(path))


def give_way(path: Path, descriptor: int) -> None:
    """Release the lock of a path, which a process waits for, and take it again after that one.

    No process may have inherited the descriptor: it would lose the lock, too.
    """
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    until = time.monotonic() + _HANDED_OVER
    while holder_of(path) is None and time.monotonic() < until:
        time.sleep(0.02)  # whoever asks first takes it, and this process must not
    fcntl.flock(descriptor, fcntl.LOCK_EX)


def _listed(path: Path) -> Iterator[tuple[int, bool]]:
    """The processes that hold the lock of a path or wait for it, and whether they wait."""
    try:
        there = path.stat()
        lines = Path("/proc/locks").read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return
    wanted = f"{os.major(there.st_dev):02x}:{os.minor(there.st_dev):02x}:{there.st_ino}"
    for line in lines:
        # 1: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF; one that waits is "1: -> FLOCK ...".
        words = line.split()
        waits = words[1:2] == ["->"]
        words = words[2:] if waits else words[1:]
        if len(words) > 4 and words[0] == "FLOCK" and words[4] == wanted:
            yield int(words[3]), waits


@contextlib.contextmanager
def locked_content(path: Path) -> Iterator[BinaryIO]:
    """Hold the lock of a file of data; yield it, opened to read and to append.

    Whoever appends to the file or replaces it holds this lock, so that nothing is appended to a
    file that has just been replaced. The file and its directory are created if need be; a file that
    is still empty at the end is removed; what is no file, such as a pipe, stays. Raises OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        with path.open("a+b") as stream:
            _take(stream.fileno())
            if not _is_at(path, stream.fileno()):
                continue  # it was replaced or removed while this waited
            try:
                yield stream
            finally:
                stream.flush()
                now = os.fstat(stream.fileno())
                if _is_at(path, stream.fileno()) and stat.S_ISREG(now.st_mode) and now.st_size == 0:
                    path.unlink()
            return


def _take(descriptor: int, on_wait: Callable[[], object] | None = None) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        if on_wait is not None:
            on_wait()
        fcntl.flock(descriptor, fcntl.LOCK_EX)


def _is_at(path: Path, descriptor: int) -> bool:
    """Whether an open file or directory is still the one that its path names."""
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
