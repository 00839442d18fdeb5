"""What readers want to know of a journal without its samples and ledgers."""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass
from datetime import datetime

from pydantic import TypeAdapter

from observatory.store.asv.columns import Columns
from observatory.store.asv.listing import Listed, Signature, signature_of
from observatory.store.journal.latest import Note, latest_of
from observatory.store.journal.ledgers import LedgerStore
from observatory.store.journal.models import JournalHeader
from observatory.store.journal.reader import read_journal
from observatory.store.reading import compiled
from observatory.store.reading.cache import DIGEST_SIZE, Made
from observatory.store.reading.sources import kept_problems


@dataclass(frozen=True)
class JournalSummary:
    """The current header, notes on the current values, and when the newest sample was taken."""

    header: JournalHeader | None
    notes: tuple[Note, ...]
    measured_at: datetime | None
    functions: str = compiled.UNKEPT
    """What was compiled, as `compiled.kept_of` writes it."""

    @classmethod
    def kept(cls, head: str) -> JournalSummary:
        """The summary that the cache keeps as the head of a journal."""
        return _ADAPTER.validate_json(head)


class JournalSource:
    """A journal. It may be larger than what should be in memory at once."""

    def __init__(self, listed: Listed, ledgers: LedgerStore) -> None:
        self.key = listed.key
        self.signature = listed.signature
        self._path = listed.path
        self._ledgers = ledgers

    def digest(self) -> bytes:
        """The hash of the content. Raises OSError."""
        hasher = functools.partial(hashlib.blake2b, digest_size=DIGEST_SIZE)
        with self._path.open("rb") as stream:
            return hashlib.file_digest(stream, hasher).digest()

    def make(self) -> Made:
        """Read it and summarise it. Raises nothing: what is broken is a problem."""
        contents = read_journal(self._path)
        current = contents.current()
        made = JournalSummary(
            header=contents.header,
            notes=tuple(latest_of(contents).notes),
            measured_at=max((entry.sample.started_at for entry in contents.entries), default=None),
            functions=compiled.kept_of(current, self._ledgers),
        )
        problems = kept_problems((problem.reason, problem.line) for problem in contents.problems)
        return Made(_ADAPTER.dump_json(made, by_alias=True).decode(), problems, Columns())

    def current(self) -> Signature:
        """The signature as it is now. Raises OSError."""
        return signature_of(self._path.stat())


_ADAPTER = TypeAdapter(JournalSummary)
