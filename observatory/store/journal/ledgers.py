"""The store of ledgers: equal ledgers are one file, however many samples made them.

The hash covers what two builds can share: all but the ``seconds`` of each entry, which differ in
every process. They go to the journal, as a list parallel to the stored entries. The order of
compilation is not kept: ledgers are compared as multisets.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Annotated, TypeAlias, overload

from pydantic import ConfigDict, FailFast, TypeAdapter

from observatory.store.base.strict_json import read_json
from observatory.store.journal.contents import ContentError, ContentStore
from observatory.store.records.sample import LedgerEntry, StoredEntry

_KEPT = 4  # ledgers in memory: they save 250 of the 600 reads of our own site, 32 would save 275
Tally: TypeAlias = Mapping[tuple[str | None, str, str], int]
"""How many entries of a ledger have the same step, name and outcome."""
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
"""Samples left it in names until 2026: one of each process, which no other process has."""
_TIMED = TypeAdapter(list[LedgerEntry], config=ConfigDict(defer_build=True))
_ENTRIES = TypeAdapter(
    Annotated[list[StoredEntry], FailFast()], config=ConfigDict(defer_build=True)
)


@dataclass(frozen=True)
class Stored:
    """Where a ledger went, and the seconds of its entries in the stored order."""

    sha: str
    seconds: list[float]


class ShelvedLedger(Sequence[LedgerEntry]):
    """A stored ledger of which only the tally is in memory.

    Its entries are read when one is first looked at, which raises as `load_timed` does.
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


class TimedLedger(list[LedgerEntry]):
    """A stored ledger with the seconds of one sample. It is not changed: its tally is kept."""

    @cached_property
    def tally(self) -> Tally:
        """How many functions of each graph and name had which outcome."""
        return _tally(self)


def tally_of(entries: Iterable[StoredEntry]) -> Tally:
    """The tally of a ledger, which is known of a stored one."""
    return entries.tally if isinstance(entries, ShelvedLedger | TimedLedger) else _tally(entries)


def _tally(entries: Iterable[StoredEntry]) -> Tally:
    return Counter((one.step, one.name, one.outcome) for one in entries)


class LedgerStore(ContentStore[list[StoredEntry]]):
    """The directory ``results/ledgers``."""

    what = "ledger"
    largest = 16 * 2**20

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        # Cells that follow one another often share a ledger: those of fork and of spawn.
        self._read = lru_cache(maxsize=_KEPT)(super().load)
        self._tally = lru_cache(maxsize=_KEPT)(lambda sha: tally_of(self._read(sha)))

    def store(self, entries: Sequence[LedgerEntry]) -> Stored:
        """Store a ledger. Raises as `put`."""
        ordered = sorted(entries, key=_order)
        plain = [entry.model_dump(exclude={"seconds"}, exclude_none=True) for entry in ordered]
        text = json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return Stored(self.put(text.encode()), [round(entry.seconds, 4) for entry in ordered])

    def load(self, sha: str) -> list[StoredEntry]:
        """The entries of a stored ledger, in canonical order. Raises ContentError."""
        return list(self._read(sha))

    def parsed(self, content: bytes) -> list[StoredEntry]:
        """The entries in a content, without addresses in their names. Raises InvalidError."""
        entries = read_json(_ENTRIES, content)
        if b" at 0x" not in content:
            return entries
        return [
            one.model_copy(update={"name": _ADDRESS.sub(" at 0x…", one.name)}) for one in entries
        ]

    def load_timed(self, sha: str, seconds: Sequence[float]) -> TimedLedger:
        """The entries of a stored ledger with the seconds of one sample, in canonical order.

        ``seconds`` come from the journal line that refers to the ledger, one for each entry. Raises
        ContentError as `load` does, and if the numbers of entries and seconds differ.
        """
        entries = self.load(sha)
        _check_seconds(sha, len(entries), seconds)
        # Both halves were checked when they were read. To check them again takes half of the time
        # of `model_construct`, which is written in Python.
        both = zip(entries, seconds, strict=True)
        timed = [{**vars(entry), "seconds": spent} for entry, spent in both]
        return TimedLedger(_TIMED.validate_python(timed))

    def shelve(self, sha: str, seconds: Sequence[float]) -> ShelvedLedger:
        """What `load_timed` gives, read and checked, but not kept. Raises as it does."""
        tally = self._tally(sha)
        _check_seconds(sha, sum(tally.values()), seconds)
        return ShelvedLedger(tally, len(seconds), partial(self.load_timed, sha, seconds))


def _check_seconds(sha: str, entries: int, seconds: Sequence[float]) -> None:
    if entries != len(seconds):
        raise ContentError(
            f"the ledger {sha} has {entries} entries but the journal line gives seconds "
            f"for {len(seconds)}; they do not belong together"
        )


def _order(entry: LedgerEntry) -> tuple[str, ...]:
    size = -1 if entry.bytes is None else entry.bytes
    words = (entry.step, entry.kind, entry.name, entry.key, entry.outcome, entry.source)
    return (*(word or "" for word in words), f"{size:12}")
