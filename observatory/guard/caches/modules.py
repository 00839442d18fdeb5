"""The entries of PyTensor's C cache: a directory for each module, below a ``compiledir``.

A directory contains the shared library, its source and ``key.pkl``, which PyTensor writes last. The
name of the compiledir ends with the version of Python and the bits of a word, unless a flag says
otherwise.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from pickletools import genops

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from observatory.guard.caches.entries import Entry, Origin, StateName
from observatory.guard.caches.functions import GRACE
from observatory.guard.caches.opening import unnoticed

OLD = 24 * 24 * 3600.0
"""Seconds without use after which PyTensor ignores a module (``cmodule__age_thresh_use``)."""
_IMPORTED = "_ext"
"""How the directories of modules end that PyTensor imports by their paths, without a key."""
_NAME = re.compile(r"compiledir_.*-([0-9]+\.[0-9]+\.[0-9]+[a-z0-9]*)-(?:32|64)")
_LEVELS = 2
_OTHERS = ("lock_dir", "__pycache__", "numba")
"""Directories beside those of modules."""
_LARGEST_KEY = 8 * 2**20
_MOST_ENTRIES = 100_000
_ABI, _TARGET = "NPY_ABI_VERSION=", "-march="


def compiledirs(directory: Path) -> Iterator[Path]:
    """The directories of C modules: a directory, or those one or two levels below; no links.

    With the flag ``compiledir_format`` they may have any name: what they hold says what they are.
    """
    waiting = [(directory, 0)]
    while waiting:
        path, level = waiting.pop()
        below = _directories(path)
        if _NAME.fullmatch(path.name) or any((one / "key.pkl").is_file() for one in below):
            yield path
        elif level < _LEVELS:
            waiting += [(one, level + 1) for one in reversed(below)]


def _directories(path: Path) -> list[Path]:
    """The directories in one that are no links; none of one that cannot be read."""
    try:
        return sorted(one for one in path.iterdir() if one.is_dir() and not one.is_symlink())
    except OSError:
        return []


def modules(compiledir: Path, now: float, old: float = OLD) -> Iterator[Entry]:
    """The C modules of a compiledir; those that a process could load are ``unknown``.

    ``old``: seconds without use after which PyTensor ignores a module.
    """
    named = _NAME.fullmatch(compiledir.name)
    python = named[1] if named else ""
    for number, path in enumerate(sorted(compiledir.iterdir())):
        if number == _MOST_ENTRIES:
            break
        if path.is_dir() and not path.is_symlink() and path.name not in _OTHERS:
            try:
                yield _module(path, python, now, old)
            except FileNotFoundError:
                continue  # PyTensor has just deleted it
            except OSError as error:  # it may be somebody else's
                yield Entry(
                    path.name, Origin("C", python), (path,), 0, path.lstat().st_mtime,
                    state="unreadable", reason=f"it cannot be read: {error.strerror}",
                )  # fmt: skip


def _module(path: Path, python: str, now: float, old: float) -> Entry:
    files = {file.name: file.lstat() for file in path.iterdir() if not file.is_dir()}
    size = sum(stat.st_size for stat in files.values())
    written = max((stat.st_mtime for stat in files.values()), default=path.lstat().st_mtime)
    libraries = [path / name for name in files if name.endswith(".so")]
    strings: list[str] = []
    state, reason = _state(path, files, libraries, now - written)
    if state == "unknown" and "key.pkl" in files:
        try:
            strings = _strings(path / "key.pkl")
        except ValueError as error:
            state, reason = "broken", f"key.pkl cannot be read: {error}"
    imported = path.name.endswith(_IMPORTED)  # by its path, however old it is
    used = max((files[one.name].st_atime for one in libraries), default=written)
    if state == "unknown" and not imported and now - used > old:
        state = "old"
    target = tuple(text.removeprefix(_TARGET) for text in strings if text.startswith(_TARGET))[:1]
    abi = next((text.removeprefix(_ABI) for text in strings if text.startswith(_ABI)), "")
    return Entry(
        path.name, Origin("C", python, machine=target, numpy_abi=abi), (path,), size, written,
        state=state, reason=reason,
    )  # fmt: skip


def _state(
    path: Path, files: dict[str, os.stat_result], libraries: list[Path], age: float
) -> tuple[StateName, str]:
    """The state of a directory before its key is read."""
    if "delete.me" in files:
        return "leftover", "PyTensor marked it for deletion"
    complete = "key.pkl" in files or path.name.endswith(_IMPORTED)
    if age < GRACE and not (libraries and complete):
        return "new", ""
    if not libraries:
        return "leftover", "it contains no module"
    if not complete:
        return "leftover", "its module has no key"
    for library in libraries:
        if why := _unsound(library):
            return "broken", f"{library.name} {why}"
    return "unknown", ""


def _unsound(library: Path) -> str:
    """What is wrong with a shared library; empty if its sections are all in the file.

    Raises OSError.
    """
    try:
        size = library.stat().st_size
        with unnoticed(library) as stream:
            head = ELFFile(stream).header
        # The table of sections is the last thing in a library.
        if head["e_shoff"] + head["e_shnum"] * head["e_shentsize"] > size:
            return "is truncated"
    except (ELFError, ValueError, KeyError, AttributeError) as error:
        return f"is not a shared library: {error}" if str(error) else "is not a shared library"
    return ""


def _strings(key: Path) -> list[str]:
    """The texts in a pickle, which is decoded and not loaded. Raises OSError or ValueError."""
    with unnoticed(key) as stream:
        content = stream.read(_LARGEST_KEY + 1)
    if len(content) > _LARGEST_KEY:
        raise ValueError(f"it has more than {_LARGEST_KEY} bytes")
    return [argument for _, argument, _ in genops(content) if isinstance(argument, str)]
