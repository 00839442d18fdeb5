"""The four things that are asked of an object store: create, read, list and remove.

An object is created as a whole, only where there is none of its name, and never changed. Of two
processes that create one name at once, one succeeds. This is all that `collection` builds on, and a
store that cannot promise it is refused.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from observatory.errors import Exit
from observatory.extras import extra
from observatory.store.base.files import write_new
from observatory.store.base.problems import RecordError

_LOCAL = frozenset({"file", "local"})
_EXCLUSIVE = frozenset({"abfs", "abfss", "az", "gcs", "gs", "memory", "s3", "s3a"}) | _LOCAL
"""Protocols of fsspec whose ``mode="create"`` is one step of the server, and not a look first."""
_TAKEN = frozenset({"409", "412", "ConditionalRequestConflict", "PreconditionFailed"})
_MARK = "format.json"
_FORMAT = b'{"format": "observatory results", "version": 1}\n'
_CHANGED = ("LastModified", "last_modified", "updated", "mtime", "created")
"""Where the file systems of fsspec say when an object was written."""


class StoreError(RecordError):
    """What is in the store cannot be read, or cannot be kept there; the message says why."""

    exit_code = Exit.UNREADABLE


class AddressError(StoreError):
    """The address cannot be used for results; the message says why."""

    exit_code = Exit.USAGE


class UnreachableError(StoreError):
    """The store did not do what it was asked to."""

    exit_code = Exit.UNPUBLISHED


class GoneError(StoreError):
    """There is no object of this name."""

    exit_code = Exit.UNREADABLE


@dataclass(frozen=True)
class Found:
    """An object in a listing."""

    name: str
    size: int
    """Bytes."""
    changed: datetime | None
    """When it was created, by the clock of the store; None if the store does not say."""


@dataclass
class Bucket:
    """The objects below an address of fsspec, such as ``s3://bucket/prefix``.

    Credentials and settings are those that fsspec and the library of the protocol find in the
    environment. Raises AddressError for a protocol that is unknown or cannot create exclusively,
    and MissingLibraryError if its library is not installed.
    """

    address: str
    _files: Any = field(init=False, repr=False)
    _root: str = field(init=False, repr=False)
    _local: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        protocol, separator, rest = self.address.partition("://")
        if not separator or not rest.strip("/"):
            raise AddressError(f"{self.address!r} is no address; write PROTOCOL://BUCKET/PREFIX")
        with extra("store"):
            import fsspec
        if protocol not in _EXCLUSIVE:
            known = protocol in fsspec.available_protocols()
            why = "cannot create a file only where there is none" if known else "is unknown"
            raise AddressError(
                f"{self.address}: the protocol {protocol} {why}; use one of "
                f"{', '.join(sorted(_EXCLUSIVE))}"
            )
        with self._asking("opened"):
            # Others change the store: nothing that was listed may be remembered.
            self._files = fsspec.filesystem(
                protocol, use_listings_cache=False, skip_instance_cache=protocol != "memory"
            )
            self._root = str(self._files._strip_protocol(self.address)).rstrip("/")
        self._local = protocol in _LOCAL

    def create(self, name: str, content: bytes) -> bool:
        """Create an object; False, and nothing is written, if its name is taken.

        False may also mean that another process creates it at this moment. Raises UnreachableError.
        """
        path = self._path(name)
        with self._asking(f"written to ({name})"):
            if self._local:
                Path(path).parent.mkdir(parents=True, exist_ok=True)
                return write_new(Path(path), content)
            try:
                self._files.pipe_file(path, content, mode="create")
            except FileExistsError:
                return False
            except Exception as error:
                if _code(error) in _TAKEN:
                    return False
                raise
        return True

    def read(self, name: str, start: int = 0, end: int | None = None) -> bytes:
        """Return the bytes of an object from ``start`` to ``end``, which is left out.

        Raises GoneError if there is no such object, and UnreachableError.
        """
        with self._asking(f"read ({name})"):
            try:
                whole = start == 0 and end is None
                span = {} if whole else {"start": start, "end": end}
                return bytes(self._files.cat_file(self._path(name), **span))
            except FileNotFoundError as error:
                raise GoneError(f"{self.address} has no object {name}") from error

    def found(self, below: str) -> list[Found]:
        """List the objects whose names begin with ``below/``, by name. Raises UnreachableError."""
        path = self._path(below)
        with self._asking(f"listed ({below})"):
            self._files.invalidate_cache()
            try:
                listed = self._files.find(path, detail=True)
            except FileNotFoundError:
                return []
            # Inside of the block: sizes and times are what the server says, and may be nonsense.
            return [
                Found(
                    f"{below}/{full[len(path) :].lstrip('/')}", int(one["size"] or 0), _changed(one)
                )
                for full, one in sorted(listed.items())
                if full.startswith(path + "/") and not full.rpartition("/")[2].startswith(".")
            ]

    def remove(self, name: str) -> None:
        """Remove an object; it may be gone already. Raises UnreachableError."""
        with self._asking(f"cleaned ({name})"), contextlib.suppress(FileNotFoundError):
            self._files.rm_file(self._path(name))

    def check(self) -> None:
        """Raise AddressError unless the store refuses to create what is there already.

        The first check marks the place as one of results. Older servers that speak S3 ignore the
        condition; on those, two publishers could overwrite each other.
        """
        if self.create(_MARK, _FORMAT) and self.create(_MARK, _FORMAT):
            raise AddressError(
                f"{self.address}: the server writes over what is there although it is asked not to "
                "(it ignores If-None-Match), so that results could be lost; use another server"
            )
        try:
            content = self.read(_MARK)
        except GoneError as error:
            raise UnreachableError(
                f"{self.address}: the server neither creates {_MARK} nor has it; try again"
            ) from error
        if content != _FORMAT:
            raise AddressError(f"{self.address} is of another version of the observatory: {_MARK}")

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    @contextlib.contextmanager
    def _asking(self, what: str) -> Iterator[None]:
        """Make one kind of error of the many kinds that the libraries of protocols raise."""
        try:
            yield
        except StoreError:
            raise
        except ImportError as error:
            raise AddressError(f"{self.address} needs another package: {error}") from error
        except Exception as error:
            said = " ".join(str(error).split())[:300] or type(error).__name__
            raise UnreachableError(f"{self.address} could not be {what}: {said}") from error


def fresh() -> str:
    """Eight characters that no other process has chosen."""
    return secrets.token_hex(4)


def _code(error: BaseException | None) -> str:
    """The code in an answer of S3, in the error or in what caused it."""
    while error is not None:
        answer = getattr(error, "response", None)
        if isinstance(answer, dict):
            return str(answer.get("Error", {}).get("Code", ""))
        error = error.__cause__ or error.__context__
    return ""


def _changed(info: dict[str, Any]) -> datetime | None:
    found = next((info[key] for key in _CHANGED if info.get(key) is not None), None)
    if isinstance(found, int | float):
        return datetime.fromtimestamp(found, UTC)
    if isinstance(found, str):
        with contextlib.suppress(ValueError):
            found = datetime.fromisoformat(found)
    if not isinstance(found, datetime):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
