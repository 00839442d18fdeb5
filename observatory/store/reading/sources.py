"""What the cache keeps of each kind of file, and how it is made of the file."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from observatory.store.asv import result
from observatory.store.asv.columns import SeriesList
from observatory.store.asv.listing import LARGEST_FILE
from observatory.store.base.decode import NotJsonError, decoded
from observatory.store.base.files import read_bounded
from observatory.store.journal.latest import Note, latest_of
from observatory.store.journal.ledgers import LedgerStore
from observatory.store.journal.models import JournalHeader
from observatory.store.journal.reader import read_journal
from observatory.store.reading import compiled
from observatory.store.reading.cache import Made

_LONGEST_WORD = 100
_MOST_PROBLEMS = 100


@dataclass(frozen=True)
class JournalSummary:
    """What readers want to know of a journal without its samples and ledgers."""

    header: JournalHeader | None
    """The current header."""
    notes: tuple[Note, ...]
    """What a reader of the current values must know of them."""
    measured_at: datetime | None
    """When the newest sample was taken."""
    functions: str = compiled.UNKEPT
    """The compiled functions, as `compiled.kept_of` writes them."""

    @classmethod
    def kept(cls, head: Any) -> JournalSummary:
        """The summary that the cache keeps as the head of a journal."""
        return _SUMMARY.validate_python(head)


_SUMMARY = TypeAdapter(JournalSummary)


def result_of(path: Path, series: SeriesList) -> Made:
    """What is kept of a result file: its head and its values. Raises RecordError, OSError."""
    found = result.parse(_content(path), series)
    head = None if found.head is None else list(found.head)
    return Made(head, [(reason, None) for reason in found.problems], found.columns)


def benchmarks_of(path: Path) -> Made:
    """Unit and type of each benchmark in ``benchmarks.json``. Raises RecordError, OSError."""
    try:
        loaded = decoded(_content(path))
    except NotJsonError as error:
        return Made(None, [(str(error), None)])
    if not isinstance(loaded, dict):
        return Made(None, [("it is not a JSON object of benchmarks", None)])
    described, odd = {}, []
    for name, entry in loaded.items():
        if isinstance(entry, dict):
            words = (entry.get("unit"), entry.get("type"))
            described[name] = [w[:_LONGEST_WORD] if isinstance(w, str) else "" for w in words]
        elif name != "version":
            odd.append((f"benchmark {name[:200]!r} is not an object; its unit is unknown", None))
    return Made(described, odd[:_MOST_PROBLEMS])


def journal_of(path: Path, ledgers: LedgerStore) -> Made:
    """What is kept of a journal: its `JournalSummary`. What is broken is a problem."""
    contents = read_journal(path)
    made = JournalSummary(
        header=contents.header,
        notes=tuple(latest_of(contents).notes),
        measured_at=max((entry.sample.started_at for entry in contents.entries), default=None),
        functions=compiled.kept_of(contents.current(), ledgers),
    )
    head = _SUMMARY.dump_python(made, mode="json", by_alias=True)
    return Made(head, [(problem.reason, problem.line) for problem in contents.problems])


def _content(path: Path) -> bytes:
    return read_bounded(path, LARGEST_FILE, "it was not read") or b""
