"""Keep what was made of files, so that an unchanged file is never parsed twice.

A file is unchanged if its signature (size, times of change, inode) is the same and can be trusted
(`signatures.rested`), or else the hash of its content.

The cache is one file of numpy arrays in ``$XDG_CACHE_HOME/observatory/frames/<directory>/``, where
nobody who sends results can put anything. It begins with the hash of its content and of the code
that made it: a damaged file, or one of another version, is ignored and replaced. Any number of
processes may read and write at once and be killed; all they can lose is time.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
import orjson

from observatory import benchmarks
from observatory.store.asv.columns import COLUMN_NAMES, Columns, Ints, Series, SeriesList, joined
from observatory.store.asv.listing import Listed
from observatory.store.base.files import cache_directory, write_atomic
from observatory.store.base.signatures import Signature, digest_of, rested, signature_of

_HASH = 16
"""Bytes of the hash with which a cache begins."""
_clock = time.time_ns
_blake2b = partial(hashlib.blake2b, digest_size=16)


class Made(NamedTuple):
    """What was made of one file.

    ``head`` is what JSON can hold, or None; ``problems`` are reasons, each with its line or None.
    """

    head: Any
    problems: Sequence[tuple[str, int | None]] = ()
    columns: Columns = Columns()


class Entry(NamedTuple):
    """What is kept of one file beside its values; ``head`` and ``problems`` as `Made` has them.

    ``path`` is the file's path in the results directory, each byte as a character of latin-1.
    ``checked_ns`` is when the signature was taken, ``length`` the number of values.
    """

    path: str
    signature: Signature
    checked_ns: int
    digest: str
    head: Any
    problems: Sequence[tuple[str, int | None]]
    length: int


def directory_for(results: Path) -> Path | None:
    """Where the cache of a results directory is; None on a system without a home."""
    base = cache_directory()
    try:
        name = _blake2b(os.fsencode(results.resolve())).hexdigest()
    except (OSError, RuntimeError):
        return None
    return None if base is None else base / "frames" / name


def version() -> str:
    """A hash of the code that makes what is kept, in 16 hexadecimal digits."""
    found = hashlib.blake2b(digest_size=8)
    for source in sources():
        found.update(source.read_bytes())
    return found.hexdigest()


def sources() -> list[Path]:
    """The code that makes what is kept: all of the store, and the catalogue with its models."""
    store, measuring = Path(__file__).parents[1], Path(benchmarks.__file__).parent
    patterns = ("catalogue/*.py", "models/*.py")
    return sorted([*store.rglob("*.py"), *(p for each in patterns for p in measuring.glob(each))])


class Cache:
    """What was made of a directory's files, numbered by their places in ``entries``."""

    def __init__(self, directory: Path | None, series: SeriesList) -> None:
        self.entries: list[Entry] = []
        self._path = None if directory is None else directory / "kept.npz"
        self._series = series
        self._now = _clock()
        self._columns = [Columns()]
        self._load()
        self._numbers = {entry.path: number for number, entry in enumerate(self.entries)}
        self._used: set[int] = set()
        self._changed = False

    def get(self, listed: Listed, parse: Callable[[Path], Made]) -> int:
        """The number of a file, parsed if it is new. Raises OSError and what ``parse`` raises."""
        path, signature = listed.key.decode("latin-1"), listed.signature
        number = self._numbers.get(path, -1)
        known = self.entries[number] if number >= 0 else None
        if known and known.signature == signature and rested(signature, known.checked_ns):
            return self._use(number)
        digest = "" if self._path is None else digest_of(listed.path)
        if known and known.digest == digest:
            # Nothing is gained by noting a file from the future again.
            if known.signature != signature or rested(signature, self._now):
                self.entries[number] = known._replace(signature=signature, checked_ns=self._now)
                self._changed = True
            return self._use(number)
        made = parse(listed.path)
        if digest and signature_of(listed.path.stat()) != signature:
            digest = ""  # what was parsed may not be what was hashed
        self._changed = True
        self._columns.append(made.columns)
        self.entries.append(
            Entry(path, signature, self._now, digest, made.head, made.problems, len(made.columns))
        )
        return self._use(len(self.entries) - 1)

    def close(self, numbers: Sequence[int]) -> tuple[Ints, Columns]:
        """Write what is new, if it can be written: else the next reader parses it again.

        Returns the values of the files ``numbers``, and first for each the place of its file there.
        """
        # A copy of the values may be most of the memory that all of a command needs.
        columns = joined(self._columns)
        self._columns = []
        lengths = np.array([entry.length for entry in self.entries], np.int64)
        owners = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
        if self._path is not None and self._changed:
            used = sorted(self._used)
            entries = [self.entries[number] for number in used]
            kept = columns if len(used) == len(lengths) else columns.where(np.isin(owners, used))
            with contextlib.suppress(OSError):
                write_atomic(self._path, encoded(entries, kept, self._series))
        places = np.full(len(lengths), -1, np.int32)
        places[numbers] = np.arange(len(numbers))
        file = places[owners]
        there = file >= 0
        return (file, columns) if there.all() else (file[there], columns.where(there))

    def _use(self, number: int) -> int:
        self._used.add(number)
        return number

    def _load(self) -> None:
        if self._path is not None:
            with contextlib.suppress(OSError, LookupError, ValueError, EOFError, BadZipFile):
                self.entries, columns = decoded(self._path.read_bytes(), self._series)
                self._columns.append(columns)


def encoded(entries: Sequence[Entry], columns: Columns, series: SeriesList) -> memoryview:
    """Files and their values as the content of a cache, with the series that have values."""
    used, numbers = np.unique(columns.series, return_inverse=True)
    names = [[series.all[number].name, series.all[number].params] for number in used]
    arrays: dict[str, Any] = dict(zip(COLUMN_NAMES, columns.arrays(), strict=True))
    arrays["series"] = numbers.astype(np.int32)
    arrays["text"] = np.frombuffer(orjson.dumps([names, entries], default=list), np.uint8)
    sink = io.BytesIO()
    sink.write(bytes(_HASH))
    np.savez(sink, **arrays)
    content = sink.getbuffer()
    content[:_HASH] = _hash(content[_HASH:])
    return content


def decoded(content: bytes, series: SeriesList) -> tuple[list[Entry], Columns]:
    """Entries and values from the content of a cache; its series are added to ``series``.

    Raises LookupError, ValueError, EOFError or BadZipFile for content that is damaged.
    """
    if _hash(memoryview(content)[_HASH:]) != content[:_HASH]:
        raise ValueError("the cache is damaged, or another version made it")
    stream = io.BytesIO(content)
    stream.seek(_HASH)
    with np.load(stream, allow_pickle=False) as arrays:
        names, listed = orjson.loads(arrays["text"].tobytes())
        columns = Columns(*(arrays[name] for name in COLUMN_NAMES))
    numbers = series.numbers(Series(name, tuple(map(tuple, params))) for name, params in names)
    entries = [Entry(path, Signature(*signature), *rest) for path, signature, *rest in listed]
    return entries, columns.renumbered(numbers)


def _hash(content: bytes | memoryview) -> bytes:
    return _blake2b(content, key=version().encode()).digest()
