"""PyTensor's C cache as the process sees it that uses it: warnings, files that it reads, counters.

Model files import this module at their top, so that it imports PyTensor in functions.
"""

from __future__ import annotations

import logging
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...parent import fork

_KEY = "key.pkl"
_LOGGER = "pytensor"
_WAITS = 99
"""The exit status of a process that does not get a lock."""


@dataclass
class Seen:
    """What happened while it was watched."""

    warnings: list[str] = field(default_factory=list)
    """Texts, of `warnings` and of PyTensor's logger, from which some come."""
    opened: list[str] = field(default_factory=list)
    """The files of keys that were opened."""

    def warned(self, words: str) -> int:
        """How many warnings contain some words."""
        return sum(words in text for text in self.warnings)

    def opened_of(self, files: Collection[Path]) -> int:
        """How often one of some files of keys was opened."""
        names = {str(one) for one in files}
        return sum(file in names for file in self.opened)


_watching: list[Seen] = []
"""Those that watch; an audit hook stays for the life of the process."""


@contextmanager
def watched() -> Iterator[Seen]:
    """Watch the warnings and the files of keys of this process. Not for several threads."""
    seen = Seen()
    if not getattr(_hook, "installed", False):
        sys.addaudithook(_hook)
        _hook.installed = True  # type: ignore[attr-defined]
    handler = _Handler(seen.warnings)
    logger = logging.getLogger(_LOGGER)
    with warnings.catch_warnings(record=True) as caught:
        # Not those of files that somebody has not closed, which come whenever memory is collected.
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        logger.addHandler(handler)
        _watching.append(seen)
        try:
            yield seen
        finally:
            _watching.remove(seen)
            logger.removeHandler(handler)
            seen.warnings += [str(one.message) for one in caught]


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and _watching and Path(file := str(arguments[0])).name == _KEY:
        for seen in _watching:
            seen.opened.append(file)


class _Handler(logging.Handler):
    def __init__(self, texts: list[str]) -> None:
        super().__init__(logging.WARNING)
        self.texts = texts

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())


@dataclass
class Counted:
    """What the counters of the cache rose by."""

    loaded: int = 0
    """Modules that were imported from a file."""
    compiled: int = 0


@contextmanager
def counted() -> Iterator[Counted]:
    """Count what the cache of this process loads and compiles."""
    found = Counted()
    _, loaded, compiled = cache_of_process().stats
    yield found
    _, loaded_now, compiled_now = cache_of_process().stats
    found.loaded, found.compiled = loaded_now - loaded, compiled_now - compiled


def cache_of_process(asked: str | None = None) -> Any:
    """Return the module cache of this process; ``asked``: the directory that is asked for."""
    import pytensor
    from pytensor.link.c import cmodule

    return cmodule.get_module_cache(asked or pytensor.config.compiledir)


def directory() -> Path:
    """Return the directory of this process's module cache."""
    return Path(cache_of_process().dirname)


def keys() -> set[Path]:
    """Return the files of all keys that are in the cache."""
    return set(directory().glob(f"*/{_KEY}"))


def new_directories(work: Callable[[], Any]) -> list[Path]:
    """Return the directories of the modules that some work has added to the cache.

    PyTensor's own helpers, which are compiled once for a cache, are not among them.
    """
    root = directory()

    def there() -> set[Path]:
        return {one for one in root.glob("tmp*") if any(one.glob("*.so"))}

    before = there()
    work()
    return sorted(there() - before)


def stored_apart(first: Callable[[], Any], second: Callable[[], Any]) -> list[Path]:
    """Do the works of two processes that do not find each other's modules, as if at one time.

    Returns the directories of all modules that they have added.
    """
    added = new_directories(first)
    with tempfile.TemporaryDirectory() as aside:
        for one in added:
            shutil.move(one, aside)
        added += new_directories(second)
        for one in Path(aside).iterdir():
            shutil.move(one, directory())
    return added


def in_another_process(work: Callable[[], int]) -> int:
    """Do some work in a fork, which leaves without cleaning up; return what the work returns.

    That is a number from 2 to 255, or 0. Raises RuntimeError if the work raises.
    """
    _, status = os.waitpid(fork(work), 0)
    code = os.waitstatus_to_exitcode(status)
    if code not in range(2, 256) and code:
        raise RuntimeError(f"another process that uses the cache failed: exit status {code}")
    return code


def locked_elsewhere(place: Path) -> bool:
    """Whether another process must wait for the lock of a directory."""
    from filelock import Timeout
    from pytensor.compile.compilelock import lock_ctx

    def asked() -> int:
        try:
            with lock_ctx(place, timeout=0.1):
                return 0
        except Timeout:
            return _WAITS

    return in_another_process(asked) == _WAITS
