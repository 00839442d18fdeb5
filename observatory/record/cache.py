"""What was made of files is kept, so that an unchanged file is never parsed twice.

A file is unchanged if its signature (size, times of change, inode) is; where that differs its
content is hashed, and it is parsed again only if the content differs too. A signature is believed
only if the file had rested for two seconds when it was taken: within less, clocks are too coarse to
tell two versions apart.

The cache is a directory of shards: parquet files, each of many files' values, never changed. What
is new goes into a new one, which takes in the small and the mostly outdated ones. A name is the
hash of the content, so that what is damaged is not believed and is made again. A shard is written
to a temporary name and renamed; a reader that finds one gone parses what was in it. So any number
of processes may read and write at once and be killed at any instant: what they can lose is time.

It is outside of the results directory (``$XDG_CACHE_HOME/observatory/frames/``), where nobody who
sends results can put anything, and it is safe to delete.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import tempfile
import time
import zlib
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from observatory.record.columns import Columns, GrowingColumns, SeriesList
from observatory.record.shards import Block, Entry, Signature, encoded, parsed, together

DIGEST_SIZE = 16
"""Bytes of the BLAKE2 hashes."""
FULL = 1_000_000
"""Values; as many new ones are written at once, so that a kill loses no more than that."""

_RESTED = 2 * 10**9  # ns
_FORGOTTEN = 7 * 86400  # s: older shards of another version, and of killed writes, are removed
_SUFFIX, _UNFINISHED = ".parquet", ".tmp"
_VERSION = re.compile(r"[0-9a-f]{16}")
_clock = time.time_ns


class Made(NamedTuple):
    """What was made of one file: `Entry` says what ``head`` and ``problems`` are."""

    head: str
    problems: str
    columns: Columns


class Source(Protocol):
    """A file that something is made of."""

    key: bytes
    signature: Signature

    def digest(self) -> bytes:
        """The hash of the content. Raises OSError."""

    def make(self) -> Made:
        """Parse it. Raises OSError."""

    def current(self) -> Signature:
        """The signature as it is now. Raises OSError."""


class Place(NamedTuple):
    """Where something is: the number of a block in `Cache.blocks`, and of a file in it."""

    block: int
    file: int


def directory_for(results: Path) -> Path | None:
    """Where the cache of a results directory is; None on a system without a home."""
    try:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        name = hashlib.blake2b(os.fsencode(results.resolve()), digest_size=16).hexdigest()
    except (OSError, RuntimeError):
        return None
    return base / "observatory" / "frames" / name if base.is_absolute() else None


def version() -> str:
    """What a cache of this version is filed under: a hash of the code that makes its content."""
    here = Path(__file__).parent
    measuring = here.parents[1] / "benchmarks"
    sources = [
        *sorted(here.glob("*.py")),
        *sorted(measuring.glob("catalogue/*.py")),
        *sorted(measuring.glob("models/*.py")),
    ]
    found = hashlib.blake2b(digest_size=8)  # 16 digits, as _VERSION has them
    for source in sources:
        found.update(source.read_bytes())
    return found.hexdigest()


class Cache:
    """What was made of the files of one results directory; without a directory it keeps nothing.

    ``blocks`` hold it all once it is closed; their columns count in ``series``.
    """

    def __init__(self, directory: Path | None, series: SeriesList) -> None:
        self.series = series
        self.blocks: list[Block] = []
        self._directory = None if directory is None else directory / version()
        self._now = _clock()
        self._shards: list[Path] = []  # of the first blocks
        self._used: list[npt.NDArray[np.bool_]] = []  # the files of those that are still so
        self._places: dict[bytes, list[Place]] = defaultdict(list)
        self._fresh: list[Entry] = []
        self._grown = GrowingColumns()
        self._load()

    def get(self, source: Source) -> Place:
        """Where that is which was made of a file, now or before. Raises OSError."""
        known = self._places.get(source.key, ())
        for place in known:
            entry = self.entry(place)
            if entry.signature == source.signature and _rested(entry.signature, entry.checked_ns):
                return self._still(place)
        if self._directory is None:
            return self._add(source, b"", source.make())
        digest = source.digest()
        for place in known:
            entry = self.entry(place)
            if entry.digest == digest:
                if entry.signature == source.signature and not _rested(entry.signature, self._now):
                    return self._still(place)  # nothing is gained by noting it again
                block = self.blocks[place.block]
                columns = block.columns.where(block.rows_of(place.file))
                return self._add(source, digest, Made(entry.head, entry.problems, columns))
        made = source.make()
        # What was parsed is not what was hashed if it has changed in between.
        changed = source.current() != source.signature
        return self._add(source, b"" if changed else digest, made)

    def entry(self, place: Place) -> Entry:
        """What is known of a file."""
        if place.block == len(self.blocks):
            return self._fresh[place.file]
        return self.blocks[place.block].entries[place.file]

    def close(self) -> None:
        """Keep what is new. A cache that cannot be written is no error: it is made again."""
        if not self._fresh:
            return
        block = self._gathered()
        if self._directory is None:
            return
        outdated = self._outdated(len(block.entries) + len(block.columns))
        kept = [self.blocks[index].only(self._used[index]) for index in outdated]
        if self._write(together([*kept, block])):
            for index in outdated:
                with contextlib.suppress(OSError):
                    self._shards[index].unlink()

    def _outdated(self, size: int) -> list[int]:
        """The shards to write anew together with ``size`` new files and values.

        Those of which more than half is outdated; and, from the smallest on, those that are not
        more than twice as large as all that is written: so the sizes of those that stay double.
        """
        sizes = []
        for index in range(len(self._shards)):
            block, used = self.blocks[index], self._used[index]
            live = int(used.sum() + block.lengths[used].sum())
            sizes.append((live, len(block.entries) + len(block.columns), index))
        found = []
        for live, whole, index in sorted(sizes):
            if live <= 2 * size or live < whole / 2:
                found.append(index)
                size += live
        return found

    def _add(self, source: Source, digest: bytes, made: Made) -> Place:
        entry = Entry(source.key, source.signature, self._now, digest, made.head, made.problems)
        place = Place(len(self.blocks), len(self._fresh))
        self._fresh.append(entry)
        self._grown.add(made.columns)
        if len(self._grown) >= FULL:
            self._write(self._gathered())
        return place

    def _still(self, place: Place) -> Place:
        self._used[place.block][place.file] = True
        return place

    def _gathered(self) -> Block:
        lengths = np.array(self._grown.lengths, np.int32)
        block = Block(tuple(self._fresh), lengths, self._grown.columns())
        self.blocks.append(block)
        self._fresh, self._grown = [], GrowingColumns()
        return block

    def _load(self) -> None:
        if self._directory is None or not self._directory.is_dir():
            return
        for path in sorted(self._directory.glob(f"*{_SUFFIX}")):
            with contextlib.suppress(OSError):
                content = path.read_bytes()
                block = self._checked(path, content)
                if block is None:
                    path.unlink()
                    continue
                for index, entry in enumerate(block.entries):
                    self._places[entry.path].append(Place(len(self.blocks), index))
                self.blocks.append(block)
                self._shards.append(path)
                self._used.append(np.zeros(len(block.entries), np.bool_))

    def _checked(self, path: Path, content: bytes) -> Block | None:
        """A shard, None if it is damaged: parquet's readers are not made for what is not whole."""
        if path.stem != _hash(content).hex():
            return None
        try:
            return parsed(content, self.series)
        except (pa.ArrowException, zlib.error, LookupError, ValueError):
            return None

    def _write(self, block: Block) -> bool:
        if self._directory is None:
            return False
        content = encoded(block, self.series)
        path = self._directory / f"{_hash(content).hex()}{_SUFFIX}"
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
            descriptor, name = tempfile.mkstemp(dir=self._directory, suffix=_UNFINISHED)
            try:
                with os.fdopen(descriptor, "wb") as stream:
                    stream.write(content)  # not synced: a torn one is not believed
                Path(name).replace(path)
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
        except OSError:
            return False
        with contextlib.suppress(OSError):
            self._forget()
        return True

    def _forget(self) -> None:
        """Remove what killed writes and other versions have left long ago, and nothing else."""
        assert self._directory is not None
        for path in self._directory.glob(f"*{_UNFINISHED}"):
            _remove_if_old(path, path.unlink)
        for other in self._directory.parent.iterdir():
            if _VERSION.fullmatch(other.name) and other != self._directory:
                for path in other.iterdir():
                    if path.suffix in (_SUFFIX, _UNFINISHED):
                        _remove_if_old(path, path.unlink)
                _remove_if_old(other, other.rmdir)  # only if it is empty


def _remove_if_old(path: Path, remove: Callable[[], None]) -> None:
    with contextlib.suppress(OSError):  # others may do the same at the same time
        if time.time() - path.stat().st_mtime > _FORGOTTEN:
            remove()


def _rested(signature: Signature, checked_ns: int) -> bool:
    return max(signature.mtime_ns, signature.ctime_ns) + _RESTED < checked_ns


def _hash(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=DIGEST_SIZE).digest()
