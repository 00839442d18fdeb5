"""numba's cache files: finding them, the entries of an index, the object code in a data file.

An index ``NAME.nbi`` contains two pickles: the version of numba, then the stamp of the source with
a dict from (signature, machine, hashes of the code) to the name of a data file ``NAME.N.nbc``. A
data file contains one pickle, whose first part is (name, "object", (object code, bitcode)). numba
loads only what an index refers to. ``numba.core.caching`` is the same in this from 0.60 to 0.68.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from observatory.guard.scan.pickles import LARGEST, CacheFileError, Inert, Mapping, load

MOST_FILES = 100_000
INDEX, DATA = ".nbi", ".nbc"
_PYTHON = re.compile(r"\.(py[0-9]+[a-z]*)\.nbi$")
_PART_OF_ONE = re.compile(r".*_[0-9a-f]{40}")
_LONGEST_VERSION = 100
_LONGEST_NAME = 255
_MOST_WORDS = 10


class Realm(NamedTuple):
    """What one process can load together; symbols of different realms cannot collide."""

    cache: Path
    numba: str
    python: str
    machine: tuple[str, ...]
    """The triple, processor and processor features that the code was compiled for."""


@dataclass(frozen=True, slots=True)
class Found:
    """The cache files below a directory, sorted."""

    indexes: list[Path] = field(default_factory=list)
    data: list[Path] = field(default_factory=list)
    broken: list[tuple[Path, str]] = field(default_factory=list)
    """Directories that could not be listed, and the reasons."""


def find(directory: Path) -> Found:
    """Return every index and data file below a directory, without following links."""
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
            found.broken.append((where, f"no more than {MOST_FILES} files are read"))
            break
    found.indexes.sort()
    found.data.sort()
    return found


def entries_of(index: Path) -> list[tuple[Path, Realm]]:
    """Return the data files that an index refers to, and what can load them.

    Raises CacheFileError.
    """
    content = _read(index)
    version, end = load(content)
    body, _ = load(content, end)
    if not isinstance(version, str) or len(version) > _LONGEST_VERSION:
        raise CacheFileError("it does not begin with a version of numba")
    if not isinstance(body, tuple) or len(body) != 2 or not isinstance(body[1], Mapping):
        raise CacheFileError("it does not contain a stamp and a dict")
    found = _PYTHON.search(index.name)
    python, cache = found[1] if found else "", _cache(index.parent)
    return [
        (_data_path(index, name), Realm(cache, version, python, _machine(key)))
        for key, name in body[1].items
    ]


def object_code(data: Path) -> bytes:
    """Return the object code in a data file. Raises CacheFileError."""
    match load(_read(data))[0]:
        case ((str(), kind, codes), *_):  # a compiled function: its library comes first
            pass
        case (str(), kind, codes):  # a library alone: wrappers of ufuncs
            pass
        case _:
            raise CacheFileError("it contains no compiled function")
    match codes:
        case (bytes() as code, *_) if kind == "object":
            return code
    raise CacheFileError("its function is stored without object code")


def _read(path: Path) -> bytes:
    """The content of a regular file of at most ``LARGEST`` bytes."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as stream:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise CacheFileError("it is not a regular file")
            content = stream.read(LARGEST + 1)
    except OSError as error:
        raise CacheFileError(f"it cannot be read: {error.strerror}") from error
    if len(content) > LARGEST:
        raise CacheFileError(f"it has more than {LARGEST} bytes")
    return content


def _cache(directory: Path) -> Path:
    """The cache that a directory of files belongs to.

    PyTensor's cache is one directory. In NUMBA_CACHE_DIR, numba makes a directory for each
    directory that functions come from, and a process loads from several of them.
    """
    return directory.parent if _PART_OF_ONE.fullmatch(directory.name) else directory


def _machine(key: Inert) -> tuple[str, ...]:
    # Texts are not copied, because an index may repeat long ones in each of its entries.
    match key:
        case (_, tuple(words), *_):
            return tuple(word for word in words[:_MOST_WORDS] if isinstance(word, str))
    return ()


def _data_path(index: Path, name: Inert) -> Path:
    if (
        not isinstance(name, str)
        or len(name) > _LONGEST_NAME
        or not name.endswith(DATA)
        or "/" in name
        or "\0" in name
    ):
        raise CacheFileError("it refers to something that is not a data file beside it")
    return index.parent / name
