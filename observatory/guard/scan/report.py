"""The result of a scan, which ``observatory scan-cache --json`` prints.

The published schema is ``docs/schemas/scan-1.json``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from observatory.guard.scan.symbols import Class

SCAN_SCHEMA: Literal["observatory/guard/scan/1"] = "observatory/guard/scan/1"


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol that several object files define with different bodies, or might."""

    kind: Class
    function: str
    """The qualified name; for helpers, the symbol."""
    uid: str | None
    """A decimal number of up to 39 digits; None if numba gave it no number."""
    bodies: int
    """The number of different bodies, including copies of one function."""
    symbol: str
    cache: str
    """The directory of the cache, relative to the one that was scanned."""
    numba: str
    python: str
    files: list[str]
    """The data files that define it, relative to the directory that was scanned."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file that was left out, and the reason as a sentence."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a scan. A symbol counts once for each set of files that a process may load."""

    schema: Literal["observatory/guard/scan/1"]
    indexes: int
    """Index files."""
    data_files: int
    """Data files that an index refers to and that were read."""
    unreferenced: int
    """Data files that no index refers to, so that no process loads them."""
    missing: int
    """Data files that an index refers to but that do not exist, so that numba compiles again."""
    functions: int
    """Different symbols of functions, without wrappers and helpers."""
    vulnerable_symbols: int
    collided_symbols: int
    harmless_symbols: int
    symbols: list[Symbol]
    """Collided, then vulnerable, then harmless ones; those with most bodies first."""
    unreadable: list[Unreadable]
