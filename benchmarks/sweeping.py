"""Removing sandboxes: those of samples whose process was killed, too."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
import time
from pathlib import Path

PREFIX = "observatory-sandbox-"
"""The beginning of the names of all sandboxes."""
OWNER = "owner"
"""The file in a sandbox that its sample locks."""
_ORPHANED = 600.0
"""Seconds: sandboxes are made and removed in far less."""


def remove(path: Path) -> None:
    """Remove what can be removed of a sandbox, its owner file last.

    A process that is killed in the middle leaves a sandbox that `sweep` recognises.
    """
    for inside in path.glob("*"):
        if inside.is_dir() and not inside.is_symlink():
            shutil.rmtree(inside, ignore_errors=True)
        elif inside.name != OWNER:
            with contextlib.suppress(OSError):
                inside.unlink()
    shutil.rmtree(path, ignore_errors=True)


def sweep() -> list[Path]:
    """Remove the sandboxes of samples whose process was killed, and return their paths.

    They are those that nobody locks. One without an owner file is being made or removed at this
    moment, or its process was killed just then: that shows when it is of this user and has not
    changed for ten minutes.
    """
    abandoned = []
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        if not _is_own(path):
            continue
        try:
            lock = os.open(path / OWNER, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            if _is_orphan(path):
                remove(path)
                abandoned.append(path)
            continue
        except OSError:  # somebody else's
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            continue
        else:
            remove(path)
            abandoned.append(path)
        finally:
            os.close(lock)
    return abandoned


def _is_own(path: Path) -> bool:
    """Whether it is a directory of this user, and no link to one."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()


def _is_orphan(path: Path) -> bool:
    """Whether a sandbox without an owner file has been left; a clock may have been set back."""
    try:
        return abs(time.time() - path.lstat().st_mtime) > _ORPHANED
    except OSError:
        return False
