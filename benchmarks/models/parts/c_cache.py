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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...parent import fork

_KEY = "key.pkl"
_WAITS = 99
"""The exit status of a process that does not get a lock."""
_LOGGER = "pytensor"


@dataclass
class Seen:
    """What happened while it was watched."""

    warnings: list[str] = field(default_factory=list)
    """Texts; until PyTensor 3 they came from its logger."""
    read: list[str] = field(default_factory=list)
    """The files of keys that were opened to be read."""
    written: set[str] = field(default_factory=set)

    def warned(self, words: str) -> int:
        """How many warnings contain some words."""
        return sum(words in text for text in self.warnings)

    @property
    def read_of_others(self) -> int:
        """How often the key of a module was read that was not stored meanwhile."""
        return sum(file not in self.written for file in self.read)


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
        warnings.simplefilter("always")
        logger.addHandler(handler)
        _watching.append(seen)
        try:
            yield seen
        finally:
            _watching.remove(seen)
            logger.removeHandler(handler)
            seen.warnings += [str(one.message) for one in caught]


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if event != "open" or not _watching:
        return
    file, mode = str(arguments[0]), arguments[1] or ""
    if Path(file).name == _KEY:
        for seen in _watching:
            if "w" in mode:
                seen.written.add(file)
            else:
                seen.read.append(file)


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
    """Do two works of other processes which do not find each other's modules, as if at one time.

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


def remove(directories: list[Path]) -> None:
    """Delete directories, as `pytensor-cache purge` of another process does."""
    for one in directories:
        shutil.rmtree(one)


def in_another_process(work: Callable[[], Any]) -> None:
    """Do some work in a fork, which leaves without cleaning up. Raises RuntimeError if it fails."""

    def done() -> int:
        work()
        return 0

    _, status = os.waitpid(fork(done), 0)
    if status:
        raise RuntimeError(f"another process that uses the cache failed: {status}")


def locked_elsewhere(place: Path) -> bool:
    """Whether another process must wait for the lock of a directory."""

    def asked() -> int:
        from filelock import Timeout
        from pytensor.compile.compilelock import lock_ctx

        try:
            with lock_ctx(place, timeout=0.1):
                return 0
        except Timeout:
            return _WAITS

    _, status = os.waitpid(fork(asked), 0)
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, _WAITS):
        raise RuntimeError(f"another process that asks for the lock failed: {code}")
    return code == _WAITS
