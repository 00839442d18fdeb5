"""Keeping a results directory small: old journals are compacted, ledgers of nobody are removed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from observatory.record import layout
from observatory.record.compacting import compacted, newest
from observatory.record.files import write_atomic
from observatory.record.lines import read_lines, written

_LEDGER = re.compile(rb'"ledger":\s*"([0-9a-f]{64})"')
_STARTED = re.compile(rb'"started_at":\s*"(\d{4}-\d{2}-\d{2})')


@dataclass
class Tidied:
    """What became smaller; sizes in bytes, of the journals that were compacted."""

    journals: int = 0
    before: int = 0
    after: int = 0
    ledgers: int = 0
    """Those that no journal refers to any more, removed."""


def tidy(results: Path, older_than: datetime | None) -> Tidied:
    """Compact the journals whose newest sample is older; None compacts none.

    Nothing is written for a journal that has been compacted. Raises OSError.
    """
    done = Tidied()
    referred: set[str] = set()
    for path in layout.journals(results):
        content = path.read_bytes()
        if older_than is not None and _may_be_older(content, older_than):
            journal = read_lines(path)
            last = newest(journal.readable)
            if last is not None and last < older_than:
                less = written(compacted(journal))
                if len(less) < len(content):
                    write_atomic(path, less)
                    done.journals += 1
                    done.before += len(content)
                    done.after += len(less)
                    content = less
        referred |= {sha.decode() for sha in _LEDGER.findall(content)}
    for ledger in (results / layout.LEDGERS).glob("??/*.json.gz"):
        if ledger.name.removesuffix(".json.gz") not in referred:
            ledger.unlink()
            done.ledgers += 1
    return done


def _may_be_older(content: bytes, older_than: datetime) -> bool:
    """Whether no sample is of that day or a later one: most journals are told so unparsed."""
    days = _STARTED.findall(content)
    # A day more: what is written there may be of another time zone.
    return bool(days) and max(days).decode() <= older_than.date().isoformat()
