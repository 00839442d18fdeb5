"""Keeping a results directory small: old journals are compacted, unused ledgers are removed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from observatory.store.base.files import write_atomic
from observatory.store.base.locking import locked_content
from observatory.store.journal.compacting import compacted, newest
from observatory.store.journal.models import JournalRecord, UnreadableLine
from observatory.store.journal.reader import read_journal, written
from observatory.store.records import layout


@dataclass
class Tidied:
    """What became smaller; sizes in bytes, of the journals that were compacted."""

    journals: int = 0
    before: int = 0
    after: int = 0
    ledgers: int = 0
    """The ledgers that no journal refers to any more; they were removed."""


def tidy(results: Path, older_than: datetime | None) -> Tidied:
    """Compact the journals whose newest sample is older, and remove the ledgers nothing refers to.

    None compacts no journal. Nothing is written for a journal that is as small as it can be. No
    ledger is removed while any line of a journal is not JSON, as it may have referred to one.
    Raises OSError.
    """
    done = Tidied()
    referred: set[str] | None = set()
    for path in layout.journals(results):
        records = _compact(path, older_than, done)
        named = None if records is None else _named(records)
        referred = None if named is None or referred is None else referred | named
    if referred is None:
        return done
    for profile in (results / layout.PROFILES).glob("??/*.json.gz"):
        if profile.name.removesuffix(".json.gz") not in referred:
            profile.unlink()
    for ledger in (results / layout.LEDGERS).glob("??/*.json.gz"):
        if ledger.name.removesuffix(".json.gz") not in referred:
            ledger.unlink()
            done.ledgers += 1
    return done


def _compact(path: Path, older_than: datetime | None, done: Tidied) -> list[JournalRecord] | None:
    """Compact one journal if it is due; its records then, None if they are not all of its lines."""
    with locked_content(path):
        journal = read_journal(path, strict=True)
        last = newest(journal.entries)
        if older_than is None or last is None or last >= older_than or not journal.complete:
            return journal.records if journal.complete else None
        records, before = compacted(journal), path.stat().st_size
        less = written(records)
        if len(less) < before:
            write_atomic(path, less)
            done.journals += 1
            done.before += before
            done.after += len(less)
        return records


def _named(records: list[JournalRecord]) -> set[str] | None:
    """The ledgers that a journal refers to, by hash; None where that cannot be known.

    Whatever text stands in a line that a later version wrote may name a ledger.
    """
    found: set[str] = set()
    for record in records:
        if not isinstance(record, UnreadableLine):
            named = (record.ledger, record.line.profile)
            found |= {sha for sha in named if sha is not None}
            continue
        try:
            found.update(_texts(json.loads(record.raw)))
        except (ValueError, RecursionError):
            return None
    return found


def _texts(value: Any) -> Iterator[str]:
    """Every text in a JSON value, the keys of objects included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for one in value:
            yield from _texts(one)
            if isinstance(value, dict):
                yield from _texts(value[one])
