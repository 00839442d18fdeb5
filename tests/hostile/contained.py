"""What no hostile input may do while it is read: write elsewhere, start processes, ask servers.

An audit hook of Python sees each of them before it happens, and refuses it as a system would that
does not permit it. A hook can never be removed: it is added once, and watches while a block lasts.
"""

from __future__ import annotations

import errno
import multiprocessing.util
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NoReturn
from unittest import mock

from observatory.run import local

_FIRST, _SECOND, _BOTH = (slice(1), slice(1, 2), slice(2))
_PATHS = {
    "os.chmod": _FIRST, "os.chown": _FIRST, "os.link": _BOTH, "os.mkdir": _FIRST,
    "os.remove": _FIRST, "os.rename": _BOTH, "os.rmdir": _FIRST, "os.symlink": _SECOND,
    "os.utime": _FIRST, "shutil.rmtree": _FIRST,
}  # fmt: skip
"""Events that change files: which arguments are paths. The last may be a directory's descriptor."""
_PROCESSES = frozenset({
    "os.exec", "os.fork", "os.forkpty", "os.kill", "os.killpg", "os.posix_spawn", "os.spawn",
    "os.system", "pty.spawn", "subprocess.Popen",
})  # fmt: skip
_NETWORK = frozenset({
    "socket.bind", "socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto",
})  # fmt: skip
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_FAILS = shutil.which("expr") or "/usr/bin/expr"
"""The program that Python itself is taken for: it may start, and ends with status 2 at once."""
_NOWHERE = frozenset({os.devnull, "/dev/full"})
_watched: list[_Watch] = []


class _Watch:
    """Refuses what leads out of a directory, and notes it. ``network``: whether it may be used."""

    def __init__(self, inside: Path, network: bool) -> None:
        self._inside, self._network = inside.resolve(), network
        self.refused: list[str] = []

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            if isinstance(path, str | bytes) and isinstance(flags, int) and flags & _WRITES:
                self._check(event, path, None)
        elif event in _PATHS:
            last = arguments[-1]
            for path in arguments[_PATHS[event]]:
                if isinstance(path, str | bytes):
                    self._check(event, path, last if isinstance(last, int) and last >= 0 else None)
        elif event in _PROCESSES and not (event == "subprocess.Popen" and arguments[0] == _FAILS):
            self._refuse(event, FileNotFoundError, errno.ENOENT, str(arguments[0])[:200])
        elif event in _NETWORK and not self._network:
            self._refuse(event, OSError, errno.ENETUNREACH, None)

    def _check(self, event: str, path: str | bytes, place: int | None) -> None:
        """Refuse a path outside; ``place``: the descriptor of the directory that it is in."""
        name = os.fsdecode(path)
        below = Path() if place is None else Path(f"/proc/self/fd/{place}").readlink()
        where = below / name
        # Of what is removed or renamed, the last part counts, even if it is a link elsewhere.
        where = Path(os.path.realpath(where if event == "open" else where.parent))
        if not where.is_relative_to(self._inside) and name not in _NOWHERE:
            self._refuse(event, PermissionError, errno.EACCES, name)

    def _refuse(self, event: str, kind: type[OSError], number: int, name: str | None) -> NoReturn:
        self.refused.append(f"{event} {name or ''}".strip())
        raise kind(number, os.strerror(number), *([name] if name else []))


@cache
def _hook() -> None:
    """Add the hook, once for this process."""

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        for watch in _watched[-1:]:
            watch(event, arguments)

    sys.addaudithook(hook)


@contextmanager
def contained(inside: Path, *, network: bool = False) -> Iterator[list[str]]:
    """Refuse, until the block ends, to change files outside of a directory and to start processes.

    Yields the list of what was refused. Temporary files are in the directory, which is also the
    home. Processes of the observatory itself fail as soon as they start. Nothing is waited for.
    """
    (inside / "tmp").mkdir(parents=True, exist_ok=True)
    there = {"HOME": inside, "TMPDIR": inside / "tmp", "XDG_CACHE_HOME": inside / "cache"}
    _hook()
    with (
        mock.patch.dict(os.environ, {name: str(path) for name, path in there.items()}),
        mock.patch.object(tempfile, "tempdir", str(inside / "tmp")),
        mock.patch.object(time, "sleep", return_value=None),
        mock.patch.object(os, "fsync", return_value=None),
        mock.patch.object(sys, "executable", _FAILS),
        # Without processes no interpreter is found, which later tests must not remember.
        mock.patch.object(local, "_installed", cache(local._installed.__wrapped__)),
        # The one way to a process that no event tells of.
        mock.patch.object(multiprocessing.util, "spawnv_passfds", _no_process),
    ):
        watch = _Watch(inside, network)
        _watched.append(watch)
        try:
            yield watch.refused
        finally:
            _watched.pop()


def _no_process(path: Any, *_: Any) -> NoReturn:
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fsdecode(path))
