"""What was compiled for one subject, function by function: small enough to keep and to show."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

from observatory.store.base.problems import Problem
from observatory.store.journal.contents import ContentError
from observatory.store.journal.ledgers import LedgerStore
from observatory.store.journal.models import JournalEntry
from observatory.store.journal.values import latest_runs
from observatory.store.reading.kept import OfLedgers
from observatory.store.records.sample import StoredEntry

Outcome = Literal["hit", "miss", "uncacheable", "internal"]


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
        cell = str(entry.sample.cell)
        if entry.ledger is None or entry.seconds is None or cell in found:
            continue
        if entry.sample.status != "ok":
            continue
        try:
            found[cell] = _summed(store.load(entry.ledger), entry.seconds)
        except ContentError as error:
            problems.append(Problem(store.path(entry.ledger), str(error)))
    return found


def _summed(ledger: Iterable[StoredEntry], seconds: Iterable[float]) -> tuple[Function, ...]:
    groups: dict[tuple[str, Outcome], list[tuple[float, int]]] = defaultdict(list)
    for entry, spent in zip(ledger, seconds, strict=False):
        groups[entry.name, entry.outcome].append((spent, entry.bytes or 0))
    made = [
        Function(*key, len(each), round(sum(s for s, _ in each), 4), sum(b for _, b in each))
        for key, each in groups.items()
    ]
    return tuple(sorted(made, key=lambda f: (-f.seconds, f.name, f.outcome)))


KEPT_FUNCTIONS = OfLedgers(Function, functions_of)
"""The compiled functions of a subject, read once and kept."""
