"""Which files of a results directory are read, without opening any."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from observatory.store.base.problems import Problem
from observatory.store.base.signatures import Signature, signature_of
from observatory.store.base.strict_json import LARGEST_JSON
from observatory.store.records import layout

BENCHMARKS = "benchmarks.json"
MACHINE = "machine.json"
_NO_RESULTS = (BENCHMARKS, MACHINE, layout.ALERTS)
"""Files beside those with results. Alerts are where the directory of one machine was looked at."""
LARGEST_FILE = LARGEST_JSON
"""Bytes of one JSON file; a larger one is named and skipped."""
SMALLER = "asv writes smaller files without --record-samples"
"""What to do about one that is larger, or that holds more values than are read."""

_Parts = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Listed:
    """A file to read: ``key`` is its path within the results directory."""

    path: Path
    key: bytes
    signature: Signature


@dataclass(frozen=True)
class Listing:
    """What there is to read, each list sorted by path, and files that cannot be."""

    results: list[Listed]
    benchmarks: list[Listed]  # one or none
    journals: list[Listed]
    problems: list[Problem]


def listing(directory: Path) -> Listing:
    """List a results directory.

    Result files are in directories, one a machine; or beside a ``machine.json`` in ``directory``
    itself, where that is the directory of one machine.
    """
    problems: list[Problem] = []

    def readable(all_parts: Iterable[_Parts], largest: int | None) -> list[Listed]:
        found = (_regular(directory, parts, largest, problems) for parts in sorted(all_parts))
        return [file for file in found if file is not None]

    journals = (path.relative_to(directory).parts for path in layout.journals(directory))
    benchmarks = [(BENCHMARKS,)] if os.path.lexists(directory / BENCHMARKS) else []
    return Listing(
        results=readable(_walk(directory, (), problems), LARGEST_FILE),
        benchmarks=readable(benchmarks, LARGEST_FILE),
        journals=readable(journals, None),
        problems=problems,
    )


def _walk(directory: Path, parts: _Parts, problems: list[Problem]) -> Iterator[_Parts]:
    here = directory.joinpath(*parts)
    try:
        with os.scandir(here) as scan:
            entries = list(scan)
    except OSError as error:
        problems.append(Problem(here, f"it cannot be listed: {error.strerror}"))
        return
    results_here = bool(parts) or any(entry.name == MACHINE for entry in entries)
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if parts or entry.name not in layout.RESERVED:
                yield from _walk(directory, (*parts, entry.name), problems)
        elif results_here and entry.name.endswith(".json") and entry.name not in _NO_RESULTS:
            yield (*parts, entry.name)


def _regular(
    directory: Path, parts: _Parts, largest: int | None, problems: list[Problem]
) -> Listed | None:
    """A file that can be read, or None and a problem: a pipe, for one, might never end."""
    path = directory.joinpath(*parts)
    try:
        found = path.stat()
    except OSError as error:
        problems.append(Problem(path, f"it cannot be read: {error.strerror}"))
        return None
    if not stat.S_ISREG(found.st_mode):
        problems.append(Problem(path, "it is not a regular file"))
    elif largest is not None and found.st_size > largest:
        advice = "remove it and make it again" if parts[-1] in _NO_RESULTS else SMALLER
        reason = f"it is larger than {largest:,} bytes and was not read; {advice}"
        problems.append(Problem(path, reason))
    else:
        return Listed(path, os.fsencode("/".join(parts)), signature_of(found))
    return None
