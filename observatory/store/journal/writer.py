"""Appending to a journal, so that what was recorded once is never lost.

An append is one write, synced, under the lock of the journal itself (`locking.locked_content`). A
last line that a kill has torn is named on reading and cut off by the next append.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

from pydantic import ValidationError

from observatory.store.base.files import sync_directory
from observatory.store.base.locking import locked_content
from observatory.store.base.problems import reason_of
from observatory.store.base.strict_json import InvalidError, check_bounds
from observatory.store.journal.ledgers import LedgerStore
from observatory.store.journal.models import (
    LARGEST_LINE,
    JournalError,
    JournalHeader,
    JournalLine,
    encoded,
    parsed,
)
from observatory.store.journal.profiles import ProfileStore
from observatory.store.journal.reader import JournalContents, read_header, read_journal
from observatory.store.records import layout
from observatory.store.records.sample import Sample


class Journal:
    """One journal file, and the header that appended samples are under."""

    def __init__(self, path: Path, ledgers: LedgerStore, header: JournalHeader):
        self.path = path
        self.ledgers = ledgers
        self.profiles = ProfileStore(ledgers.directory.parent / layout.PROFILES)
        self.header = header
        # The file and its size when its last header was known to be this one.
        self._checked: tuple[int, int] | None = None

    @classmethod
    def of(cls, results: Path, header: JournalHeader) -> Journal:
        """The journal of a subject on a machine, in a results directory."""
        path = layout.journal_path(results, header.machine.machine, header.subject)
        return cls(path, LedgerStore(results / layout.LEDGERS), header)

    def append(self, run: str, sample: Sample) -> None:
        """Record one sample; it is on disk when this returns.

        Raises OSError, and JournalError if the line is too long or the journal of another subject.
        """
        line = encoded(self._line(run, sample)) + b"\n"
        if len(line) > LARGEST_LINE:
            raise JournalError(
                f"a sample of {len(line)} bytes is too large for {self.path}; at most "
                f"{LARGEST_LINE} are recorded: {sample.cell.scenario} {sample.cell.backend}"
            )
        try:
            check_bounds(line)
        except InvalidError as error:
            raise JournalError(f"{self.path} cannot take the sample: {error}") from error
        with locked_content(self.path) as stream:
            _repair_tail(stream)
            file = os.fstat(stream.fileno()).st_ino
            size = stream.seek(0, os.SEEK_END)
            if (file, size) != self._checked:
                line = self._header_if_due() + line
            stream.write(line)
            stream.flush()
            os.fsync(stream.fileno())
            self._checked = file, stream.tell()
        if size == 0:
            sync_directory(self.path.parent)

    def read(self) -> JournalContents:
        """Read the journal as `read_journal` does; raises nothing for bad content."""
        return read_journal(self.path)

    def _line(self, run: str, sample: Sample) -> JournalLine:
        bare = sample.model_copy(update={"ledger": None})
        profile = None
        if sample.profile is not None and sample.profile.tree is not None:
            bare = bare.model_copy(update={"profile": None})
            profile = self.profiles.store(sample.profile)
        try:
            if sample.ledger is None:
                return JournalLine(run=run, sample=bare, profile=profile)
            stored = self.ledgers.store(sample.ledger)
            return JournalLine(
                run=run, sample=bare, ledger=stored.sha, seconds=stored.seconds, profile=profile
            )
        except ValidationError as error:
            raise JournalError(f"{self.path} cannot take the sample: {reason_of(error)}") from error

    def _header_if_due(self) -> bytes:
        last, ours = read_header(self.path), self.header
        if last is not None and not last.subject.same_as(ours.subject):
            raise JournalError(
                f"{self.path} holds samples of {last.subject.label!r} "
                f"({' '.join(last.subject.requirements)}; {last.subject.commit[:8]}), not of "
                f"{ours.subject.label!r} ({' '.join(ours.subject.requirements)}; "
                f"{ours.subject.commit[:8]}); give another results directory"
            )
        return b"" if last == ours else encoded(ours) + b"\n"


def _repair_tail(stream: BinaryIO) -> None:
    """Make the file end with a whole line: cut off what a kill has torn, or end what is whole."""
    size = stream.seek(0, os.SEEK_END)
    while size:
        stream.seek(max(0, size - LARGEST_LINE - 1))
        line = stream.read().rpartition(b"\n")[2]
        if not line:
            break
        if len(line) <= LARGEST_LINE and not isinstance(parsed(line), str):
            stream.write(b"\n")
            break
        size = stream.truncate(size - len(line))
    stream.flush()
