"""Arrays in files without a name: not in memory until somebody looks, and gone with the process."""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

_ALIGNED = 8


class Filed(NamedTuple):
    """Arrays by name, and the file that they are in."""

    arrays: dict[str, npt.NDArray[Any]]
    content: mmap.mmap

    def let_go(self) -> None:
        """Take what was looked at out of memory; who looks again reads it again."""
        self.content.madvise(mmap.MADV_DONTNEED)


class Nameless:
    """A file without a name that arrays are written to, some of their items at a time."""

    def __init__(self, directory: Path, kinds: Mapping[str, tuple[str, int]]) -> None:
        """Make it in a directory, which need not be there. Raises OSError.

        ``kinds``: the type of the items of each array, and how many there are at most.
        """
        self._kinds = {name: np.dtype(kind) for name, (kind, _) in kinds.items()}
        self._places: dict[str, int] = {}
        self._lengths = dict.fromkeys(kinds, 0)
        size = 0
        for name, (_, most) in kinds.items():
            self._places[name] = size
            size += most * self._kinds[name].itemsize
            size += -size % _ALIGNED
        directory.mkdir(parents=True, exist_ok=True)
        self._stream = tempfile.TemporaryFile(dir=directory)  # noqa: SIM115 `filed` closes it
        self._stream.truncate(max(size, _ALIGNED))

    def add(self, **items: npt.NDArray[Any]) -> None:
        """Add items to the ends of arrays. Raises OSError."""
        for name, some in items.items():
            kind = self._kinds[name]
            self._stream.seek(self._places[name] + self._lengths[name] * kind.itemsize)
            self._stream.write(some.astype(kind, copy=False).tobytes())
            self._lengths[name] += len(some)

    def filed(self) -> Filed:
        """All that was added; it can only be read. Raises OSError."""
        with self._stream:
            self._stream.flush()
            content = mmap.mmap(self._stream.fileno(), 0, access=mmap.ACCESS_READ)
        return Filed({
            name: np.frombuffer(content, kind, self._lengths[name], self._places[name])
            for name, kind in self._kinds.items()
        }, content)  # fmt: skip
