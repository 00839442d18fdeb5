"""A store of ledgers by content: equal ledgers are one file, however many samples made them.

The hash covers what two builds can share: all but the ``seconds`` of each entry, which differ in
every process. They go to the journal, as a list parallel to the stored entries. The order of
compilation is not kept: ledgers are compared as multisets.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Annotated, TypeAlias, overload

from pydantic import ConfigDict, FailFast, TypeAdapter

from observatory.store.base.files import write_atomic
from observatory.store.base.problems import RecordError
from observatory.store.base.strict_json import InvalidError, check_bounds, read_json
from observatory.store.records.sample import LedgerEntry, StoredEntry

LARGEST_LEDGER = 16 * 2**20
"""Bytes of a ledger's JSON, decompressed; a larger one is refused."""
_KEPT = 4  # ledgers in memory: they save 250 of the 600 reads of our own site, 32 would save 275
_SHA = re.compile(r"[0-9a-f]{64}")
Tally: TypeAlias = Mapping[tuple[str | None, str, str], int]
"""How many entries of a ledger have the same step, name and outcome."""
_TIMED = TypeAdapter(list[LedgerEntry], config=ConfigDict(defer_build=True))
_ENTRIES = TypeAdapter(
    Annotated[list[StoredEntry], FailFast()], config=ConfigDict(defer_build=True)
)


class LedgerError(RecordError):
    """A ledger cannot be stored, or what is stored is missing, broken or not what its name says."""


@dataclass(frozen=True)
class Stored:
    """Where a ledger went, and the seconds of its entries in the stored order."""

    sha: str
    seconds: list[float]


class ShelvedLedger(Sequence[LedgerEntry]):
    """A stored ledger of which only the tally is in memory.

    Its entries are read when one is first looked at, which raises LedgerError as `load_timed` does.
    """

    def __init__(self, tally: Tally, size: int, read: Callable[[], list[LedgerEntry]]) -> None:
        """``size``: the number of entries."""
        self.tally, self._size, self._read = tally, size, read

    @cached_property
    def _entries(self) -> list[LedgerEntry]:
        return self._read()

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, index: int) -> LedgerEntry: ...
    @overload
    def __getitem__(self, index: slice) -> list[LedgerEntry]: ...
    def __getitem__(self, index: int | slice) -> LedgerEntry | list[LedgerEntry]:
        return self._entries[index]


def tally_of(entries: Iterable[StoredEntry]) -> Tally:
    """The tally of a ledger, which is known of a shelved one."""
    if isinstance(entries, ShelvedLedger):
        return entries.tally
    return Counter((one.step, one.name, one.outcome) for one in entries)


class LedgerStore:
    """The directory ``results/ledgers``."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        # Cells that follow one another often share a ledger: those of fork and of spawn.
        self._read = lru_cache(maxsize=_KEPT)(_entries)
        self._tally = lru_cache(maxsize=_KEPT)(lambda path: tally_of(self._read(path)))

    def path(self, sha: str) -> Path:
        """The path of a ledger, there or not. Raises LedgerError if ``sha`` is no SHA-256."""
        return content_path(self.directory, sha)

    def store(self, entries: Sequence[LedgerEntry]) -> Stored:
        """Store a ledger unless it is there. Raises LedgerError if it is too large, OSError."""
        ordered = sorted(entries, key=_order)
        plain = [entry.model_dump(exclude={"seconds"}, exclude_none=True) for entry in ordered]
        text = json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        content = text.encode()
        if len(content) > LARGEST_LEDGER:
            raise LedgerError(
                f"a ledger of {len(entries)} entries takes {len(content)} bytes; "
                f"at most {LARGEST_LEDGER} are stored"
            )
        try:
            check_bounds(content)
        except InvalidError as error:
            raise LedgerError(f"a ledger could not be read again: {error}") from error
        sha = hashlib.sha256(content).hexdigest()
        path = self.path(sha)
        if not path.exists():
            write_atomic(path, gzip.compress(content, compresslevel=9, mtime=0))
        return Stored(sha, [round(entry.seconds, 4) for entry in ordered])

    def load(self, sha: str) -> list[StoredEntry]:
        """The entries of a stored ledger, in canonical order.

        Raises LedgerError if it is missing, broken, too large or not what its name says.
        """
        return list(self._read(self.path(sha)))

    def load_timed(self, sha: str, seconds: Sequence[float]) -> list[LedgerEntry]:
        """The entries of a stored ledger with the seconds of one sample, in canonical order.

        ``seconds`` come from the journal line that refers to the ledger, one for each entry. Raises
        LedgerError as `load` does, and if the numbers of entries and seconds differ.
        """
        entries = self.load(sha)
        _check_seconds(sha, len(entries), seconds)
        # Both halves were checked when they were read. To check them again takes half of the time
        # of `model_construct`, which is written in Python.
        both = zip(entries, seconds, strict=True)
        return _TIMED.validate_python([{**vars(entry), "seconds": spent} for entry, spent in both])

    def shelve(self, sha: str, seconds: Sequence[float]) -> ShelvedLedger:
        """What `load_timed` gives, read and checked, but not kept. Raises as it does."""
        tally = self._tally(self.path(sha))
        _check_seconds(sha, sum(tally.values()), seconds)
        return ShelvedLedger(tally, len(seconds), partial(self.load_timed, sha, seconds))


def _check_seconds(sha: str, entries: int, seconds: Sequence[float]) -> None:
    if entries != len(seconds):
        raise LedgerError(
            f"the ledger {sha} has {entries} entries but the journal line gives seconds "
            f"for {len(seconds)}; they do not belong together"
        )


def content_path(directory: Path, sha: str) -> Path:
    """The path of a hash in a store by content. Raises LedgerError if ``sha`` is no SHA-256."""
    if not _SHA.fullmatch(sha):
        raise LedgerError(f"{sha[:80]!r} is not a SHA-256 in 64 lower-case hexadecimal digits")
    return directory / sha[:2] / f"{sha}.json.gz"


def _order(entry: LedgerEntry) -> tuple[str, ...]:
    size = -1 if entry.bytes is None else entry.bytes
    words = (entry.step, entry.kind, entry.name, entry.key, entry.outcome, entry.source)
    return (*(word or "" for word in words), f"{size:12}")


def _entries(path: Path) -> list[StoredEntry]:
    content = decompressed(path, LARGEST_LEDGER, "ledger")
    if hashlib.sha256(content).hexdigest() != path.name.partition(".")[0]:
        raise LedgerError(
            f"{path} does not hold what its name says: its content has another hash; "
            "remove it and measure again"
        )
    try:
        return read_json(_ENTRIES, content)
    except InvalidError as error:
        raise LedgerError(f"{path} is not a ledger: {error}") from error


def decompressed(path: Path, largest: int, what: str) -> bytes:
    """The content of a file of a store. Raises LedgerError, also above ``largest`` bytes."""
    try:
        with gzip.open(path) as stream:
            content = stream.read(largest + 1)
    except FileNotFoundError as error:
        raise LedgerError(f"there is no {what} {path}; was it left out of a copy?") from error
    except (OSError, EOFError, zlib.error) as error:
        raise LedgerError(f"{path} cannot be decompressed: {error}") from error
    if len(content) > largest:
        raise LedgerError(f"{path} holds more than {largest} bytes decompressed; refused")
    return content
