"""The journal: every sample of one subject on one machine, in the order taken. The primary record.

A file of JSON lines that only ever grows. The first line is a header: the subject, the versions
in its environment and the machine. Each further line is one sample and the run that took it. When
the environment or the machine has changed since, a new header line says so before the next
sample, so that no value is ever labelled with versions that it was not measured with.

An append is one write, synced, under a lock on the file itself (which leaves nothing behind). A
last line that a kill has torn is named on reading and cut off by the next append.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, BinaryIO, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError, model_validator

from observatory.errors import Exit
from observatory.record import layout
from observatory.record.files import sync_directory
from observatory.record.ledgers import LedgerStore
from observatory.record.machine import Machine
from observatory.record.problems import Problem, RecordError, reason_of
from observatory.record.sample import Sample
from observatory.record.standing import admitted, standing_header
from observatory.record.subject import Subject, Versions

JOURNAL_SCHEMA = "observatory/journal/1"
LARGEST_LINE = 4 * 2**20
"""Bytes of one line; a longer one is refused on writing and skipped, by name, on reading."""

_HEADER_MARK = b'{"schema":"observatory/journal/'
RunId = Annotated[str, Field(pattern=r"^\d{8}T\d{6}Z(-[a-z0-9-]{1,20})?$")]


def new_run(plan: str) -> str:
    """The id of a run that begins now. ``plan``: a preset, or another word for what it takes."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{plan}"


def plan_of(run: str) -> str:
    """What a run takes; empty for those that were taken before runs said so.

    >>> plan_of("20261120T143000Z-canary-full"), plan_of("20261120T143000Z")
    ('canary-full', '')
    """
    return run.partition("-")[2]


class JournalError(RecordError):
    """A journal cannot take what it is given; the message says why."""

    exit_code = Exit.USAGE


class JournalHeader(BaseModel):
    """What the samples below it are samples of."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_: Literal["observatory/journal/1"] = Field("observatory/journal/1", alias="schema")
    subject: Subject
    versions: Versions
    machine: Machine


class JournalLine(BaseModel):
    """One sample, as written: its ledger is elsewhere, the seconds of its entries are here."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    run: RunId = Field(
        description="the start of the run that took it, UTC, and its plan: 20261120T143000Z-history"
    )
    sample: Sample
    ledger: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = Field(
        None, description="SHA-256 of results/ledgers/<ab>/<sha256>.json.gz"
    )
    seconds: list[FiniteFloat] | None = Field(
        None, description="of the ledger's entries, in its order, to 0.1 ms"
    )

    @model_validator(mode="after")
    def _ledger_is_elsewhere(self) -> Self:
        if self.sample.ledger is not None:
            raise ValueError("a journal line refers to its ledger by hash and does not contain it")
        if (self.ledger is None) != (self.seconds is None):
            raise ValueError("`ledger` and `seconds` come together or not at all")
        return self


@dataclass(frozen=True)
class JournalEntry:
    """One sample as read, under the header that it was written under. ``sample.ledger`` is None."""

    run: str
    sample: Sample
    ledger: str | None
    seconds: tuple[float, ...] | None
    header: JournalHeader


@dataclass(frozen=True)
class JournalContents:
    """What could be read. ``header`` is `standing_header`; None only where none is whole."""

    path: Path
    header: JournalHeader | None
    entries: list[JournalEntry] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def current(self) -> list[JournalEntry]:
        """The entries that stand under ``header``."""
        return [] if self.header is None else admitted(self.header, self.entries)


class Journal:
    """One journal file. ``header`` is needed to append, not to read."""

    def __init__(self, path: Path, ledgers: LedgerStore, header: JournalHeader | None = None):
        self.path = path
        self.ledgers = ledgers
        self.header = header
        self._checked_size = -1  # of the file when its last header was known to be ours

    @classmethod
    def of(cls, results: Path, header: JournalHeader) -> Journal:
        """The journal of a subject on a machine, in a results directory."""
        path = layout.journal_path(results, header.machine.machine, header.subject)
        return cls(path, LedgerStore(results / layout.LEDGERS), header)

    def append(self, run: str, sample: Sample) -> None:
        """Record one sample for good: it is on disk when this returns.

        Raises JournalError for a line above LARGEST_LINE, for a journal of another subject and
        where no header was given; OSError where nothing can be written.
        """
        header = self._needed_header()
        line = _encoded(self._line(run, sample))
        if len(line) > LARGEST_LINE:
            raise JournalError(
                f"a sample of {len(line)} bytes is too large for {self.path}; at most "
                f"{LARGEST_LINE} are recorded: {sample.cell.scenario} {sample.cell.backend}"
            )
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a+b") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            _repair_tail(stream)
            if stream.seek(0, os.SEEK_END) != self._checked_size:
                line = self._header_if_due(header) + line
            created = stream.tell() == 0
            stream.write(line)
            stream.flush()
            os.fsync(stream.fileno())
            self._checked_size = stream.tell()
        if created:
            sync_directory(self.path.parent)

    def read(self) -> JournalContents:
        """Everything that is whole, and what is not by name. Raises nothing for bad content."""
        return read_journal(self.path)

    def _needed_header(self) -> JournalHeader:
        if self.header is None:
            raise JournalError(f"{self.path} was opened for reading: give a header to append")
        return self.header

    def _line(self, run: str, sample: Sample) -> JournalLine:
        bare = sample.model_copy(update={"ledger": None})
        try:
            if sample.ledger is None:
                return JournalLine(run=run, sample=bare)
            stored = self.ledgers.store(sample.ledger)
            return JournalLine(run=run, sample=bare, ledger=stored.sha, seconds=stored.seconds)
        except ValidationError as error:
            raise JournalError(f"{self.path} cannot take the sample: {reason_of(error)}") from error

    def _header_if_due(self, ours: JournalHeader) -> bytes:
        last, _ = read_header(self.path)
        if last is not None and last.subject != ours.subject:
            raise JournalError(
                f"{self.path} holds samples of {last.subject.label!r} "
                f"({' '.join(last.subject.requirements)}; {last.subject.commit[:8]}), not of "
                f"{ours.subject.label!r} ({' '.join(ours.subject.requirements)}; "
                f"{ours.subject.commit[:8]}); give another results directory"
            )
        return b"" if last == ours else _encoded(ours)


def read_journal(path: Path) -> JournalContents:
    """Everything in a journal that is whole, and what is not by name. Raises no error."""
    header: JournalHeader | None = None
    entries: list[JournalEntry] = []
    problems: list[Problem] = []
    orphans = 0
    for number, raw, broken in _lines(path):
        parsed = broken or _parsed(raw)
        if isinstance(parsed, str):
            problems.append(Problem(path, parsed, number))
        elif isinstance(parsed, JournalHeader):
            if header is not None and parsed.subject != header.subject:
                reason = "a header of another subject; the lines after it are read as before it"
                problems.append(Problem(path, reason, number))
            else:
                header = parsed
        elif header is None:
            orphans += 1
        else:
            seconds = None if parsed.seconds is None else tuple(parsed.seconds)
            entries.append(JournalEntry(parsed.run, parsed.sample, parsed.ledger, seconds, header))
    if header is None:
        reason = f"there is no whole header line; {orphans} samples without one were skipped"
        problems.append(Problem(path, reason))
    elif orphans:
        problems.append(Problem(path, f"{orphans} samples before the first header were skipped"))
    return JournalContents(path, standing_header(entries, header), entries, problems)


def read_header(path: Path) -> tuple[JournalHeader | None, list[Problem]]:
    """The last header of a journal without parsing its samples, and what is wrong with headers."""
    header: JournalHeader | None = None
    problems: list[Problem] = []
    for number, raw, broken in _lines(path):
        if broken or not raw.startswith(_HEADER_MARK):
            continue
        parsed = _parsed(raw)
        if isinstance(parsed, JournalHeader):
            if header is None or parsed.subject == header.subject:
                header = parsed
        elif isinstance(parsed, str):
            problems.append(Problem(path, parsed, number))
    return header, problems


def _encoded(record: BaseModel) -> bytes:
    # `schema` is left out with the other defaults unless it is put first by hand.
    text = record.model_dump_json(by_alias=True, exclude_defaults=True)
    if isinstance(record, JournalHeader):
        text = f'{{"schema":"{JOURNAL_SCHEMA}",{text[1:]}'
    return text.encode() + b"\n"


def _parsed(raw: bytes) -> JournalHeader | JournalLine | str:
    """A line as a record, or the reason why it is none."""
    try:
        if raw.startswith(_HEADER_MARK):
            return JournalHeader.model_validate_json(raw)
        return JournalLine.model_validate_json(raw)
    except ValidationError as error:
        if not raw.endswith(b"\n"):
            return "the last line is torn: the process was killed while it wrote; it is skipped"
        return f"the line is skipped: {reason_of(error)}"


def _lines(path: Path) -> Iterator[tuple[int, bytes, str | None]]:
    """Number, bytes and what is wrong with each line; never more than LARGEST_LINE in memory."""
    number = 0
    try:
        with path.open("rb") as stream:
            while raw := stream.readline(LARGEST_LINE + 1):
                number += 1
                if len(raw) <= LARGEST_LINE:
                    yield number, raw, None
                    continue
                yield number, b"", f"the line is longer than {LARGEST_LINE} bytes and skipped"
                while not raw.endswith(b"\n") and raw:
                    raw = stream.readline(LARGEST_LINE)
    except OSError as error:
        yield number + 1, b"", f"the journal cannot be read: {error.strerror}"


def _repair_tail(stream: BinaryIO) -> None:
    """Make the file end with a whole line: cut off what a kill has torn, or end what is whole."""
    size = stream.seek(0, os.SEEK_END)
    if size == 0:
        return
    start = _last_line_start(stream, size)
    if start == size:
        return
    stream.seek(start)
    tail = stream.read(LARGEST_LINE + 1)
    if start + len(tail) == size and not isinstance(_parsed(tail), str):
        stream.write(b"\n")
    else:
        stream.truncate(start)
    stream.flush()


def _last_line_start(stream: BinaryIO, size: int) -> int:
    """The offset after the last newline: ``size`` if the file ends with one."""
    position = size
    while position:
        step = min(65536, position)
        stream.seek(position - step)
        found = stream.read(step).rfind(b"\n")
        if found >= 0:
            return position - step + found + 1
        position -= step
    return 0
