"""What the ledgers of a subject say, read once and kept as JSON in the cache of results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import orjson

from observatory.store.base.problems import Problem
from observatory.store.journal.ledgers import LedgerStore
from observatory.store.journal.models import JournalEntry
from observatory.store.journal.reader import read_journal
from observatory.store.records import layout

UNKEPT = ""
"""Stands for what could not be read because of a ledger: it is looked for each time."""

Row = TypeVar("Row", bound=tuple[Any, ...])


@dataclass(frozen=True)
class OfLedgers(Generic[Row]):
    """Rows by cell, in words, that the ledgers of a subject's samples give."""

    row: Callable[..., Row]
    read: Callable[
        [Iterable[JournalEntry], LedgerStore, list[Problem]], Mapping[str, Sequence[Row]]
    ]
    """Reads comparable samples; adds ledgers that are missing or broken to the problems."""

    def kept(self, entries: Iterable[JournalEntry], store: LedgerStore) -> str:
        """Return the rows as JSON for the cache; UNKEPT if a ledger is missing or broken."""
        problems: list[Problem] = []
        found = self.read(entries, store, problems)
        return UNKEPT if problems else orjson.dumps(found, default=list).decode()

    def of_journal(
        self, path: Path, kept: str, problems: list[Problem]
    ) -> Mapping[str, Sequence[Row]]:
        """Return the rows of a journal: from ``kept``, or if that is UNKEPT from the journal.

        Only then are ledgers that are missing or broken added to ``problems``.
        """
        if kept != UNKEPT:
            cells = orjson.loads(kept)
            return {cell: [self.row(*each) for each in found] for cell, found in cells.items()}
        store = LedgerStore(layout.results_of(path) / layout.LEDGERS)
        return self.read(read_journal(path).current(), store, problems)
