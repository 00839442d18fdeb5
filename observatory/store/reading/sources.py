"""The JSON files that are read, and what the cache keeps of them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path

import orjson

from observatory.store.asv import result
from observatory.store.asv.columns import Columns, SeriesList
from observatory.store.asv.listing import LARGEST_FILE, Listed, Signature, signature_of
from observatory.store.base.decode import NotJsonError, decoded
from observatory.store.base.problems import Problem
from observatory.store.reading.cache import DIGEST_SIZE, Made

_LONGEST_WORD = 100
_MOST_PROBLEMS = 100


class JsonSource:
    """A JSON file, parsed from the bytes that were hashed."""

    def __init__(self, listed: Listed, parse: Callable[[bytes], Made]) -> None:
        self.key = listed.key
        self.signature = listed.signature
        self._path = listed.path
        self._parse = parse
        self._content: bytes | None = None

    def digest(self) -> bytes:
        """The hash of the content. Raises OSError."""
        self._content = self._read()
        return hashlib.blake2b(self._content, digest_size=DIGEST_SIZE).digest()

    def make(self) -> Made:
        """Parse it. Raises OSError."""
        content = self._read() if self._content is None else self._content
        if len(content) > LARGEST_FILE:
            return unreadable(f"it grew beyond {LARGEST_FILE} bytes and was not read")
        return self._parse(content)

    def current(self) -> Signature:
        """The signature as it is now. Raises OSError."""
        return signature_of(self._path.stat())

    def _read(self) -> bytes:
        with self._path.open("rb") as stream:
            content = stream.read(self.signature.size + 1)
            if len(content) > self.signature.size:  # it has grown since
                content += stream.read(LARGEST_FILE + 1 - len(content))
            return content


def result_of(content: bytes, series: SeriesList) -> Made:
    """What is kept of a result file: its head and its values."""
    found = result.parse(content, series)
    head = "" if found.head is None else orjson.dumps(list(found.head)).decode()
    return Made(head, kept_problems((reason, None) for reason in found.problems), found.columns)


def benchmarks_of(content: bytes) -> Made:
    """What is kept of ``benchmarks.json``: unit and type of each benchmark, by name."""
    try:
        loaded = decoded(content)
    except NotJsonError as error:
        return unreadable(str(error))
    if not isinstance(loaded, dict):
        return unreadable("it is not a JSON object of benchmarks")
    described, odd = {}, []
    for name, entry in loaded.items():
        if isinstance(entry, dict):
            words = (entry.get("unit"), entry.get("type"))
            described[name] = [
                word[:_LONGEST_WORD] if isinstance(word, str) else "" for word in words
            ]
        elif name != "version":
            odd.append((f"benchmark {name[:200]!r} is not an object; its unit is unknown", None))
    return Made(orjson.dumps(described).decode(), kept_problems(odd[:_MOST_PROBLEMS]), Columns())


def unreadable(reason: str) -> Made:
    """What is kept of a file of which nothing could be read."""
    return Made("", kept_problems([(reason, None)]), Columns())


def problems_of(path: Path, kept: str) -> list[Problem]:
    """The problems of a file, as they were kept."""
    return [Problem(path, reason, line) for reason, line in orjson.loads(kept)]


def kept_problems(said: Iterable[tuple[str, int | None]]) -> str:
    """Reasons, each with its line if it has one, as the cache keeps them."""
    return orjson.dumps(list(said)).decode()
