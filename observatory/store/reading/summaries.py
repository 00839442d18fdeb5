"""What is kept of a journal: what readers want to know of it without its samples and ledgers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from observatory.store.journal.latest import Note, latest_of
from observatory.store.journal.ledgers import LedgerStore
from observatory.store.journal.models import SEARCH, JournalHeader, plan_of
from observatory.store.journal.reader import read_journal
from observatory.store.reading.cache import Made
from observatory.store.reading.compiled import KEPT_FUNCTIONS
from observatory.store.reading.fates import KEPT_FATES, Coverage, coverage_of
from observatory.store.reading.growing import Growing, growth_of
from observatory.store.reading.kept import UNKEPT
from observatory.store.reading.walks import Walks, walks_of


@dataclass(frozen=True)
class JournalSummary:
    """What readers want to know of a journal without its samples and ledgers."""

    header: JournalHeader | None  # the current header
    notes: tuple[Note, ...]  # what a reader of the current values must know of them
    measured_at: datetime | None  # when the newest sample was taken, without those of searches
    functions: str = UNKEPT  # the compiled functions, as `KEPT_FUNCTIONS.kept` writes them
    counted_by: Mapping[str, str] = field(default_factory=dict)  # work: by cell and metric
    fates: str = UNKEPT  # what became of each graph, as `KEPT_FATES.kept` writes it
    coverage: Coverage = field(default_factory=dict)
    walks: Walks = field(default_factory=dict)
    growth: Growing = field(default_factory=dict)

    @property
    def is_of_a_crossing(self) -> bool:
        """Whether only searches measured it, and with other packages than its release has.

        Such a combination of old and new packages is no subject that anybody uses.
        """
        return (
            self.measured_at is None
            and self.header is not None
            and bool(self.header.subject.extras)
        )

    @classmethod
    def kept(cls, head: Any) -> JournalSummary:
        """The summary that the cache keeps as the head of a journal."""
        return _summary().validate_python(head)


@lru_cache(maxsize=1)
def _summary() -> TypeAdapter[JournalSummary]:
    """What reads and writes a summary; it takes a while to make, and most projects have none."""
    return TypeAdapter(JournalSummary)


NOTHING = JournalSummary(None, (), None)
"""The summary where there is no journal."""


def journal_of(path: Path, ledgers: LedgerStore) -> Made:
    """What is kept of a journal: its `JournalSummary`. What is broken is a problem."""
    contents = read_journal(path)
    latest = latest_of(contents)
    made = JournalSummary(
        header=contents.header,
        notes=tuple(latest.notes),
        measured_at=max(
            (one.sample.started_at for one in contents.entries if plan_of(one.run) != SEARCH),
            default=None,
        ),
        functions=KEPT_FUNCTIONS.kept(contents.current(), ledgers),
        fates=KEPT_FATES.kept(contents.current(), ledgers),
        coverage=coverage_of(contents.current()),
        walks=walks_of(contents.current()),
        growth=growth_of(contents.current()),
        counted_by={
            f"{o.cell} {o.metric.name}": o.counted_by for o in latest.recorded if o.counted_by
        },
    )
    head = _summary().dump_python(made, mode="json", by_alias=True)
    return Made(head, [(problem.reason, problem.line) for problem in contents.problems])
