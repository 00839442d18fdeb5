"""Inspecting a user's own cache: who can load what, and what may be deleted."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from observatory.guard.caches.judging import Report, inspect
from observatory.run.cache_files import Deleted, delete
from observatory.run.readers import ask, oldest_module


def inspected(directory: Path, pythons: Sequence[str]) -> Report:
    """Return what a cache contains and what these Pythons can load.

    Pythons without numba and PyTensor are asked and listed, but decide nothing. Raises
    NoEntriesError or ReaderError.
    """
    readers = [ask(python) for python in pythons]
    deciding = [reader for reader in readers if reader.numba or reader.pytensor]
    return inspect(directory, deciding, time.time(), oldest_module())


def delete_from(report: Report) -> Deleted:
    """Delete what a report calls deletable and no process uses."""
    return delete(Path(report.directory) / path for path in report.deletable)
