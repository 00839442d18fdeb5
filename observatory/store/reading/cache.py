"""What was read from files is kept, so that an unchanged file is never parsed twice.

A file is unchanged if its signature (size, times of change, inode) is the same. Where the signature
differs, the content is hashed, and the file is parsed again only if the content differs too. A
signature is believed only if the file had rested for two seconds when it was taken: within less,
clocks are too coarse to tell two versions apart.

The cache is one file of numpy arrays. Whenever something is new, a whole new file replaces it
atomically. It begins with the hash of its content: a damaged one is ignored and replaced. So any
number of processes may read and write at once and be killed at any instant; all they can lose is
time.

It is outside of the results directory (``$XDG_CACHE_HOME/observatory/frames/``), where nobody who
sends results can put anything, and it is safe to delete.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from zipfile import BadZipFile

import numpy as np
import orjson

import benchmarks
from observatory.store.asv.columns import COLUMN_NAMES, Columns, Ints, Series, SeriesList, joined
from observatory.store.asv.listing import Signature
from observatory.store.base.files import write_atomic

DIGEST_SIZE = 16
"""Bytes of the BLAKE2 hashes."""

_RESTED = 2 * 10**9  # ns
_FORGOTTEN = 7 * 86400  # s: older files of another version, and of killed writes, are removed
_SUFFIXES = (".npz", ".parquet", ".tmp")  # earlier versions kept parquet
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


class Entry(NamedTuple):
    """What is known of one file, apart from its values.

    ``head`` and ``problems`` are JSON, which whoever reads that kind of file understands; an empty
    ``head`` means that nothing could be read. ``checked_ns`` is when the signature was taken.
    ``length`` counts the values.
    """

    path: bytes
    signature: Signature
    checked_ns: int
    digest: bytes
    head: str
    problems: str
    length: int


class Kept(NamedTuple):
    """Files and their values: those of the first, those of the second, ..."""

    entries: Sequence[Entry] = ()
    columns: Columns = Columns()

    def owners(self) -> Ints:
        """For each value the number of its file."""
        lengths = [entry.length for entry in self.entries]
        return np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)

    def only(self, numbers: Collection[int]) -> Kept:
        """The files of these numbers, in the order of the numbers."""
        rows = np.isin(self.owners(), list(numbers))
        return Kept([self.entries[number] for number in sorted(numbers)], self.columns.where(rows))


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
    found = hashlib.blake2b(digest_size=8)  # 16 digits, as _VERSION has them
    for source in sources():
        found.update(source.read_bytes())
    return found.hexdigest()


def sources() -> list[Path]:
    """The code that makes what is kept: all of the store, and the catalogue with its models."""
    store = Path(__file__).parents[1]
    measuring = Path(benchmarks.__file__).parent
    return sorted(
        [
            *store.rglob("*.py"),
            *measuring.glob("catalogue/*.py"),
            *measuring.glob("models/*.py"),
        ]
    )


class Cache:
    """What was made of the files of one results directory; without a directory it keeps nothing.

    Files have numbers, which `get` returns and by which `entries` lists them.
    """

    def __init__(self, directory: Path | None, series: SeriesList) -> None:
        self.series = series
        self._path = None if directory is None else directory / version() / "kept.npz"
        self._now = _clock()
        kept = self._load()
        self.entries = list(kept.entries)
        self._loaded = kept
        self._ends = np.cumsum([entry.length for entry in kept.entries])
        self._numbers = {entry.path: number for number, entry in enumerate(kept.entries)}
        self._used: set[int] = set()
        self._added: list[Columns] = []

    def get(self, source: Source) -> int:
        """The number of a file, which is parsed unless it is known. Raises OSError."""
        number = self._numbers.get(source.key)
        if number is not None:
            known = self.entries[number]
            if known.signature == source.signature and _rested(source.signature, known.checked_ns):
                return self._use(number)
        if self._path is None:
            return self._add(source, b"", source.make())
        digest = source.digest()
        if number is not None and known.digest == digest:
            if known.signature == source.signature and not _rested(source.signature, self._now):
                return self._use(number)  # nothing is gained by noting it again
            rows = slice(self._ends[number] - known.length, self._ends[number])
            columns = self._loaded.columns.where(rows)
            return self._add(source, digest, Made(known.head, known.problems, columns))
        made = source.make()
        # What was parsed is not what was hashed if it has changed in between.
        changed = source.current() != source.signature
        return self._add(source, b"" if changed else digest, made)

    def close(self) -> Kept:
        """Write what is new; returns everything, numbered as `get` has numbered it.

        A cache that cannot be written is no error: the next reader parses the files again.
        """
        kept = Kept(self.entries, joined([self._loaded.columns, *self._added]))
        if self._path is not None and self._added:
            with contextlib.suppress(OSError):
                write_atomic(self._path, encoded(kept.only(self._used), self.series))
                _forget(self._path.parents[1])
        return kept

    def _add(self, source: Source, digest: bytes, made: Made) -> int:
        self._added.append(made.columns)
        self.entries.append(
            Entry(source.key, source.signature, self._now, digest, made.head, made.problems,
                  len(made.columns))
        )  # fmt: skip
        return self._use(len(self.entries) - 1)

    def _use(self, number: int) -> int:
        self._used.add(number)
        return number

    def _load(self) -> Kept:
        if self._path is not None:
            with contextlib.suppress(OSError, LookupError, ValueError, EOFError, BadZipFile):
                return decoded(self._path.read_bytes(), self.series)
        return Kept()


def encoded(kept: Kept, series: SeriesList) -> bytes:
    """Files and values as the content of a cache; of ``series`` it holds those that are used."""
    used, numbers = np.unique(kept.columns.series, return_inverse=True)
    names = [[series.all[number].name, series.all[number].params] for number in used]
    # JSON has no bytes: every byte of a path becomes a character of latin-1.
    entries = [
        [path.decode("latin-1"), list(signature), checked_ns, digest.hex(), *rest]
        for path, signature, checked_ns, digest, *rest in kept.entries
    ]
    arrays: dict[str, Any] = dict(zip(COLUMN_NAMES, kept.columns.arrays(), strict=True))
    arrays["series"] = numbers.astype(np.int32)
    arrays["text"] = np.frombuffer(orjson.dumps([names, entries]), np.uint8)
    sink = io.BytesIO()
    np.savez(sink, **arrays)
    return _hash(sink.getbuffer()) + sink.getbuffer()


def decoded(content: bytes, series: SeriesList) -> Kept:
    """Files and values from the content of a cache; its series are added to ``series``.

    Raises LookupError, ValueError, EOFError or BadZipFile for content that is damaged.
    """
    if _hash(content[DIGEST_SIZE:]) != content[:DIGEST_SIZE]:
        raise ValueError("the cache is damaged")
    with np.load(io.BytesIO(content[DIGEST_SIZE:]), allow_pickle=False) as arrays:
        names, listed = orjson.loads(arrays["text"].tobytes())
        columns = Columns(*(arrays[name] for name in COLUMN_NAMES))
    numbers = series.numbers(Series(name, tuple(map(tuple, params))) for name, params in names)
    entries = [
        Entry(
            path.encode("latin-1"), Signature(*signature), checked_ns, bytes.fromhex(digest), *rest
        )
        for path, signature, checked_ns, digest, *rest in listed
    ]
    return Kept(entries, columns.renumbered(numbers))


def _forget(directory: Path) -> None:
    """Remove what killed writes and other versions have left long ago, and nothing else."""
    for other in directory.iterdir():
        if _VERSION.fullmatch(other.name):
            for path in other.iterdir():
                if path.suffix in _SUFFIXES:
                    _remove_if_old(path, path.unlink)
            _remove_if_old(other, other.rmdir)  # only if it is empty


def _remove_if_old(path: Path, remove: Callable[[], None]) -> None:
    with contextlib.suppress(OSError):  # others may do the same at the same time
        if time.time() - path.stat().st_mtime > _FORGOTTEN:
            remove()


def _rested(signature: Signature, checked_ns: int) -> bool:
    return max(signature.mtime_ns, signature.ctime_ns) + _RESTED < checked_ns


def _hash(content: bytes | memoryview) -> bytes:
    return hashlib.blake2b(content, digest_size=DIGEST_SIZE).digest()
