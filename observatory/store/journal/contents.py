"""A store by content: equal contents are one file, however many samples made them.

A content is JSON. Its file is ``<ab>/<sha256>.json.gz``, where the SHA-256 is that of the JSON.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import zlib
from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

from observatory.store.base.files import write_atomic
from observatory.store.base.problems import RecordError
from observatory.store.base.strict_json import InvalidError, check_bounds

_SHA = re.compile(r"[0-9a-f]{64}")
Content = TypeVar("Content")


class ContentError(RecordError):
    """A content cannot be stored, or is missing, broken or not what its name says."""


class ContentStore(ABC, Generic[Content]):
    """A directory of contents of one kind."""

    what: ClassVar[str]
    """The kind, as messages name it."""
    largest: ClassVar[int]
    """Bytes of a content's JSON, decompressed; a larger one is refused."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    @abstractmethod
    def parsed(self, content: bytes) -> Content:
        """What a content says. Raises InvalidError."""

    def path(self, sha: str) -> Path:
        """The path of a content, there or not. Raises ContentError if ``sha`` is no SHA-256."""
        if not _SHA.fullmatch(sha):
            raise ContentError(f"{sha[:80]!r} is not a SHA-256 in 64 lower-case hexadecimal digits")
        return self.directory / sha[:2] / f"{sha}.json.gz"

    def put(self, content: bytes) -> str:
        """Store a content unless it is there, and return its SHA-256.

        Raises ContentError if it could not be read again, OSError where nothing can be written.
        """
        if len(content) > self.largest:
            raise ContentError(
                f"a {self.what} takes {len(content)} bytes; at most {self.largest} are stored"
            )
        try:
            check_bounds(content)
        except InvalidError as error:
            raise ContentError(f"a {self.what} could not be read again: {error}") from error
        sha = hashlib.sha256(content).hexdigest()
        path = self.path(sha)
        if not path.exists():
            write_atomic(path, gzip.compress(content, compresslevel=9, mtime=0))
        return sha

    def load(self, sha: str) -> Content:
        """What is stored under a SHA-256.

        Raises ContentError if it is missing, broken, too large or not what its name says.
        """
        path = self.path(sha)
        content = self._decompressed(path)
        if hashlib.sha256(content).hexdigest() != sha:
            raise ContentError(
                f"{path} does not hold what its name says: its content has another hash; "
                "remove it and measure again"
            )
        try:
            return self.parsed(content)
        except InvalidError as error:
            raise ContentError(f"{path} is not a {self.what}: {error}") from error

    def _decompressed(self, path: Path) -> bytes:
        try:
            with gzip.open(path) as stream:
                content = stream.read(self.largest + 1)
        except FileNotFoundError as error:
            raise ContentError(
                f"there is no {self.what} {path}; was it left out of a copy?"
            ) from error
        except (OSError, EOFError, zlib.error) as error:
            raise ContentError(f"{path} cannot be decompressed: {error}") from error
        if len(content) > self.largest:
            raise ContentError(f"{path} holds more than {self.largest} bytes decompressed; refused")
        return content
