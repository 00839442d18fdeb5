"""What a scan of a cache finds, as data: ``observatory scan-cache --json`` prints it.

The published schema is ``docs/schemas/scan-1.json``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from observatory.guard.scan.symbols import Class

SCAN_SCHEMA: Literal["observatory/guard/scan/1"] = "observatory/guard/scan/1"


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol that several object files could define, or do, with different bodies."""

    kind: Class
    function: str
    """The qualified name; of helpers, the symbol."""
    uid: str | None
    """A decimal number of up to 39 digits; None for what numba does not number."""
    bodies: int
    """How many different ones it has, copies of one function among them."""
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
    """What a scan found. A symbol counts once for each set of files that a process may load."""

    schema: Literal["observatory/guard/scan/1"]
    indexes: int
    """Index files."""
    data_files: int
    """Data files that an index refers to and that were read."""
    unreferenced: int
    """Data files that no index refers to: nobody loads them."""
    missing: int
    """Data files that an index refers to and that are not there: numba compiles anew."""
    functions: int
    """Different symbols of functions, without wrappers and helpers."""
    vulnerable_symbols: int
    collided_symbols: int
    harmless_symbols: int
    symbols: list[Symbol]
    """Collided, then vulnerable, then harmless ones; those with most bodies first."""
    unreadable: list[Unreadable]
