"""numba's cache files: which there are, what an index refers to, the object code in a data file.

An index ``NAME.nbi`` holds two pickles: the version of numba, then the stamp of the source and a
dict from (signature, machine, hashes of the code) to the name of a data file ``NAME.N.nbc``. That
holds one pickle, whose first part is (name, "object", (object code, bitcode)). What no index
refers to is loaded by nobody. ``numba.core.caching`` is the same in that from 0.60 to 0.68.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from observatory.guard.scan.pickles import LARGEST, Inert, Mapping, PickleError, load

MOST_FILES = 100_000
INDEX, DATA = ".nbi", ".nbc"
_PYTHON = re.compile(r"\.(py[0-9]+[a-z]*)\.nbi$")
_PART_OF_ONE = re.compile(r".*_[0-9a-f]{40}")
_LONGEST_VERSION = 100
_LONGEST_NAME = 255
_MOST_WORDS = 10


class CacheFileError(ValueError):
    """A file of a cache is not as numba writes it; the message says why."""


class Realm(NamedTuple):
    """What one process can load together: beyond it no symbol meets another."""

    cache: Path
    numba: str
    python: str
    machine: tuple[str, ...]
    """Triple, processor and its features, as the code was compiled for."""


class Entry(NamedTuple):
    """A data file that an index refers to."""

    path: Path
    realm: Realm


@dataclass(frozen=True, slots=True)
class Found:
    """The files below a directory, in order."""

    indexes: list[Path] = field(default_factory=list)
    data: list[Path] = field(default_factory=list)
    broken: list[tuple[Path, str]] = field(default_factory=list)
    """What could not be looked at, and why."""


def find(directory: Path) -> Found:
    """Find every index and data file below a directory. No link is followed."""
    found = Found()
    directories = [directory]
    while directories:
        where = directories.pop()
        try:
            with os.scandir(where) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        directories.append(Path(entry.path))
                    elif entry.name.endswith((INDEX, DATA)):
                        names = found.indexes if entry.name.endswith(INDEX) else found.data
                        names.append(Path(entry.path))
        except OSError as error:
            found.broken.append((where, f"it cannot be listed: {error.strerror}"))
        if len(found.indexes) + len(found.data) > MOST_FILES:
            found.broken.append((where, f"there are more than {MOST_FILES} files; no more is read"))
            break
    found.indexes.sort()
    found.data.sort()
    return found


def entries_of(index: Path) -> list[Entry]:
    """The data files that an index refers to. Raises CacheFileError."""
    content = _read(index)
    try:
        version, end = load(content)
        body, _ = load(content, end)
    except PickleError as error:
        raise CacheFileError(str(error)) from error
    if not isinstance(version, str) or len(version) > _LONGEST_VERSION:
        raise CacheFileError("it does not begin with a version of numba")
    if not isinstance(body, tuple) or len(body) != 2 or not isinstance(body[1], Mapping):
        raise CacheFileError("it holds no stamp and dict")
    python = _PYTHON.search(index.name)
    return [
        Entry(
            _data_path(index, name),
            Realm(_cache(index.parent), version, python[1] if python else "", _machine(key)),
        )
        for key, name in body[1].items
    ]


def object_code(data: Path) -> bytes:
    """The object code in a data file. Raises CacheFileError."""
    try:
        value, _ = load(_read(data))
    except PickleError as error:
        raise CacheFileError(str(error)) from error
    match value:
        case ((str(), kind, codes), *_):  # a compiled function: its library comes first
            pass
        case (str(), kind, codes):  # a library alone: wrappers of ufuncs
            pass
        case _:
            raise CacheFileError("it holds no compiled function")
    match codes:
        case (bytes() as code, *_) if kind == "object":
            return code
    raise CacheFileError("its function comes without object code")


def _parts(value: Inert) -> tuple[Inert, ...]:
    return value if isinstance(value, tuple) else ()


def _read(path: Path) -> bytes:
    """The content of a regular file of at most ``LARGEST`` bytes."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as stream:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise CacheFileError("it is no regular file")
            content = stream.read(LARGEST + 1)
    except OSError as error:
        raise CacheFileError(f"it cannot be read: {error.strerror}") from error
    if len(content) > LARGEST:
        raise CacheFileError(f"it has more than {LARGEST} bytes")
    return content


def _cache(directory: Path) -> Path:
    """The cache that a directory of files belongs to.

    PyTensor's is one directory. In one of NUMBA_CACHE_DIR numba makes a directory for each of the
    directories that functions come from, and a process loads from several.
    """
    return directory.parent if _PART_OF_ONE.fullmatch(directory.name) else directory


def _machine(key: Inert) -> tuple[str, ...]:
    # The very texts of the index, as it may repeat long ones for each of its entries.
    words = [word for part in _parts(key)[1:2] for word in _parts(part)[:_MOST_WORDS]]
    return tuple(word for word in words if isinstance(word, str))


def _data_path(index: Path, name: Inert) -> Path:
    if not isinstance(name, str) or len(name) > _LONGEST_NAME or not name.endswith(DATA):
        raise CacheFileError("it refers to what is no data file")
    if "/" in name or "\0" in name:
        raise CacheFileError("it refers to what is no data file beside it")
    return index.parent / name
