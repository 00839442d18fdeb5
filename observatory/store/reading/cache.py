"""Keep what was made of files, so that an unchanged file is never parsed twice.

A file is unchanged if its signature (size, times of change, inode) is the same and can be trusted
(`signatures.rested`), or else the hash of its content.

The cache is in ``$XDG_CACHE_HOME/observatory/frames/<directory>/``, where nobody who sends results
can put anything: a file for what is said of each file, and one for the values of each part (see
`parts`). Each begins with the hash of its content and of the code that made it: a damaged one, or
one of another version, is ignored and replaced. Any number of processes may read and write at once
and be killed; all they can lose is time.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson

from observatory import benchmarks
from observatory.store.asv.columns import Columns, SeriesList
from observatory.store.asv.listing import Listed
from observatory.store.base.files import cache_directory, write_atomic
from observatory.store.base.problems import RecordError
from observatory.store.base.signatures import Signature, digest_of, rested, signature_of
from observatory.store.reading.aside import MOST, merged_in_ranges, put_aside
from observatory.store.reading.parts import KeptPart, Part, encoded, mapped, merged

_HASH = 16
"""Bytes of the hash with which a file begins."""
ENTRIES, PART = "kept.files", ".part"
"""The name of the file of all entries, and how those of parts end."""
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
    ``checked_ns`` is when the signature was taken.
    """

    path: str
    signature: Signature
    checked_ns: int
    digest: str
    head: Any
    problems: Sequence[tuple[str, int | None]]


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
        self._directory = directory
        self._key = version().encode()
        self._series = series
        self._now = _clock()
        self._new: dict[int, Columns] = {}
        """By number, the values of files that were parsed and are in no part yet."""
        self._waiting = 0
        """How many these are, about."""
        self._aside: dict[tuple[object, ...], list[Part]] = defaultdict(list)
        """By the name of a part, what was put aside of it."""
        self._load()
        self._numbers = {entry.path: number for number, entry in enumerate(self.entries)}
        self._used: set[int] = set()
        self._parts: set[str] = set()
        self._changed = False

    def get(self, listed: Listed, parse: Callable[[Path], Made]) -> int:
        """The number of a file, parsed if it is new. Raises OSError and what ``parse`` raises."""
        path, signature = listed.key.decode("latin-1"), listed.signature
        number = self._numbers.get(path, -1)
        known = self.entries[number] if number >= 0 else None
        if known and known.signature == signature and rested(signature, known.checked_ns):
            return self._use(number)
        digest = "" if self._directory is None else digest_of(listed.path)
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
        self._new[len(self.entries)] = made.columns
        self._waiting += len(made.columns)
        self.entries.append(Entry(path, signature, self._now, digest, made.head, made.problems))
        return self._use(len(self.entries) - 1)

    @property
    def full(self) -> bool:
        """Whether so many values were parsed that what can be should be put aside."""
        return self._waiting > MOST

    def put_aside(self, name: tuple[object, ...], files: Sequence[tuple[int, int, Path]]) -> None:
        """Take what was parsed of a part out of memory; its name and files are those of `part`."""
        self._waiting = 0
        own = [(entry, number) for entry, number, _ in files if entry in self._new]
        found = self._put_aside([(number, self._new[entry]) for entry, number in own])
        if found is not None:
            self._aside[name].append(found)
            for entry, _ in own:
                del self._new[entry]

    def part(
        self, name: tuple[object, ...], files: Sequence[tuple[int, int, Path]],
        parse: Callable[[Path], Made],
    ) -> Part:  # fmt: skip
        """The values of the files that ``name`` names: each one's number here, its own, its path.

        They come the oldest first. What is kept is not parsed again; the rest is, and kept.
        """
        sources = [self.entries[entry].digest for entry, _, _ in files]
        path = self._path(_blake2b(repr(name).encode()).hexdigest() + PART)
        kept = self._kept(path)
        own = np.array([number for _, number, _ in files], np.int32)
        if kept is not None and kept.sources == sources and all(sources):
            return replace(kept.part, files=own)
        part = self._made(name, files, parse, kept, sources)
        if path is None:
            return part
        kept = None  # its values may be much memory
        with contextlib.suppress(OSError):
            self._changed = True
            write_atomic(path, encoded(sources, part, self._series, self._key))
            kept = self._kept(path)
        if kept is None or kept.sources != sources:
            return part
        return replace(kept.part, files=own)

    def _made(
        self, name: tuple[object, ...], files: Sequence[tuple[int, int, Path]],
        parse: Callable[[Path], Made], kept: KeptPart | None, sources: list[str],
    ) -> Part:  # fmt: skip
        """The values of files, of what is kept and parsed; of one that is gone, no source."""
        there: dict[str, list[int]] = defaultdict(list)
        for place, source in enumerate(kept.sources if kept else ()):
            there[source].append(place)
        found = np.full(len(kept.sources) if kept else 0, -1, np.int32)
        parts = self._aside.pop(name, [])
        aside = {number for one in parts for number in one.files.tolist()}
        more: list[tuple[int, Columns]] = []
        self._waiting = waiting = 0
        for index, (entry, number, file) in enumerate(files):
            if waiting > MOST:
                waiting = 0
                if (one := self._put_aside(more)) is not None:
                    parts.append(one)
                    more = []
            if number in aside:
                continue
            if entry in self._new:
                more.append((number, self._new.pop(entry)))
            elif sources[index] and there[sources[index]]:
                found[there[sources[index]].pop()] = number
            else:
                try:
                    more.append((number, parse(file).columns))
                    waiting += len(more[-1][1])
                except (OSError, RecordError):  # it is gone: who reads next will see that
                    sources[index] = ""
        if kept:
            parts.insert(0, replace(kept.part, files=found))
        return self._merged([number for _, number, _ in files], parts, more)

    def close(self) -> None:
        """Write what is new, if it can be written: else the next reader parses it again."""
        path = self._path(ENTRIES)
        if path is None or not self._changed:
            return
        with contextlib.suppress(OSError):
            used = [self.entries[number] for number in sorted(self._used)]
            content = orjson.dumps(used, default=list)
            write_atomic(path, self._hash(content) + content)
            for old in path.parent.glob(f"*{PART}"):
                if old.name not in self._parts:
                    old.unlink(missing_ok=True)

    def _put_aside(self, more: Sequence[tuple[int, Columns]]) -> Part | None:
        """Values by file as a part that is not in memory; None if it cannot be written."""
        if self._directory is None or not more:
            return None
        with contextlib.suppress(OSError):
            return put_aside(_in_memory(more), self._directory)
        return None

    def _merged(
        self, files: Sequence[int], parts: Sequence[Part], more: Sequence[tuple[int, Columns]]
    ) -> Part:
        many = sum(map(len, parts)) + sum(len(columns) for _, columns in more) > MOST
        if many and self._directory is not None:
            with contextlib.suppress(OSError):
                return merged_in_ranges(files, [*parts, _in_memory(more)], self._directory)
        return merged(files, parts, more)

    def _use(self, number: int) -> int:
        self._used.add(number)
        return number

    def _path(self, name: str) -> Path | None:
        return None if self._directory is None else self._directory / name

    def _kept(self, path: Path | None) -> KeptPart | None:
        if path is not None:
            self._parts.add(path.name)
            with contextlib.suppress(OSError, LookupError, ValueError, TypeError):
                return mapped(path, self._series, self._key)
        return None

    def _load(self) -> None:
        path = self._path(ENTRIES)
        if path is not None:
            with contextlib.suppress(OSError, LookupError, ValueError, TypeError):
                content = path.read_bytes()
                if self._hash(content[_HASH:]) == content[:_HASH]:
                    listed = orjson.loads(content[_HASH:])
                    self.entries = [Entry(one, Signature(*rest[0]), *rest[1:])
                                    for one, *rest in listed]  # fmt: skip

    def _hash(self, content: bytes) -> bytes:
        return _blake2b(content, key=self._key).digest()


def _in_memory(more: Sequence[tuple[int, Columns]]) -> Part:
    return merged([number for number, _ in more], [], more, hashed=False)
