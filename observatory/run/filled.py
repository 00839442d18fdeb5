"""Directories of filled caches, which are large: what a killed process left of them is removed."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

from observatory.store.base.scratch import remove_unused, scratch

CACHES = "caches"
"""The directory below the state."""
_MADE = "tmp-"
_KEPT = 7 * 86_400.0
"""Seconds for which the caches of a run that ended early wait for `--resume`."""


@contextlib.contextmanager
def filled_caches(state: Path, kind: str) -> Iterator[Path]:
    """A new directory of filled caches, which nothing else uses; removed after the block.

    ``kind``: who uses it, as a part of its name. Returns an absolute path. Raises OSError.
    """
    root = (state / CACHES).absolute()
    root.mkdir(parents=True, exist_ok=True)
    sweep(root)
    with scratch(root, f"{_MADE}{kind}-") as made:
        yield made


def sweep(root: Path) -> None:
    """Remove what nobody uses: what killed processes left, and runs that nobody continued."""
    for path in root.iterdir() if root.is_dir() else ():
        waits = not path.name.startswith(_MADE)
        if not path.is_dir() or (waits and time.time() - _newest(path) < _KEPT):
            continue
        with contextlib.suppress(OSError):
            remove_unused(path, [*_below(path), path] if waits else [path])


def _newest(run: Path) -> float:
    """When a run last filled a cache; a time of `time.time`."""
    with contextlib.suppress(OSError):
        return max(one.stat().st_mtime for one in (run, *_below(run)))
    return time.time()


def _below(run: Path) -> list[Path]:
    """The directories of its environments, which the process that continues it locks."""
    return [one for one in run.iterdir() if one.is_dir()]
