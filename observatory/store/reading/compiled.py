"""What was compiled for one subject, function by function: small enough to keep and to show."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import orjson

from observatory.store.base.problems import Problem
from observatory.store.journal.ledgers import LedgerError, LedgerStore
from observatory.store.journal.models import JournalEntry
from observatory.store.journal.reader import read_journal
from observatory.store.journal.values import latest_runs
from observatory.store.records import layout
from observatory.store.records.sample import StoredEntry

Outcome = Literal["hit", "miss", "uncacheable", "internal"]
UNKEPT = ""
"""Stands for functions of which a ledger could not be read: they are looked for each time."""


class Function(NamedTuple):
    """All functions of one name and outcome in one cell."""

    name: str
    outcome: Outcome
    number: int  # how many they are
    seconds: float
    bytes: int  # 0 where no cache held any of them


Functions: TypeAlias = Mapping[str, Sequence[Function]]
"""By cell, in words, its functions: those of most seconds first."""


def functions_of(
    entries: Iterable[JournalEntry], store: LedgerStore, problems: list[Problem]
) -> Functions:
    """The compiled functions by cell: those of the cell's first good counting sample.

    ``entries`` are comparable samples of one subject. A ledger that is missing or broken is added
    to ``problems``, and its cell is left out.
    """
    found: dict[str, tuple[Function, ...]] = {}
    for entry in latest_runs(entries):
        place = entry.sample.cell
        cell = f"{place.model} {place.scenario} {place.backend} {place.launch}"
        if entry.ledger is None or entry.seconds is None or cell in found:
            continue
        if entry.sample.status != "ok":
            continue
        try:
            found[cell] = _summed(store.load(entry.ledger), entry.seconds)
        except LedgerError as error:
            problems.append(Problem(store.path(entry.ledger), str(error)))
    return found


def kept_of(entries: Iterable[JournalEntry], store: LedgerStore) -> str:
    """The compiled functions as JSON for the cache; UNKEPT if a ledger is missing or broken."""
    problems: list[Problem] = []
    found = functions_of(entries, store, problems)
    return UNKEPT if problems else orjson.dumps(found, default=list).decode()


def of_journal(path: Path, kept: str, problems: list[Problem]) -> Functions:
    """The compiled functions of a journal, by cell.

    They come from ``kept``, or if that is UNKEPT from the journal and its ledgers; ledgers that are
    missing or broken are then added to ``problems``.
    """
    if kept != UNKEPT:
        cells: dict[str, list[list[Any]]] = orjson.loads(kept)
        return {cell: [Function(*each) for each in found] for cell, found in cells.items()}
    store = LedgerStore(layout.results_of(path) / layout.LEDGERS)
    return functions_of(read_journal(path).current(), store, problems)


def _summed(ledger: Iterable[StoredEntry], seconds: Iterable[float]) -> tuple[Function, ...]:
    groups: dict[tuple[str, Outcome], list[tuple[float, int]]] = defaultdict(list)
    for entry, spent in zip(ledger, seconds, strict=False):
        groups[entry.name, entry.outcome].append((spent, entry.bytes or 0))
    made = [
        Function(*key, len(each), round(sum(s for s, _ in each), 4), sum(b for _, b in each))
        for key, each in groups.items()
    ]
    return tuple(sorted(made, key=lambda f: (-f.seconds, f.name, f.outcome)))
