"""The records of a journal's lines, as they are written and as they are read.

A journal holds every sample of one subject on one machine, in the order taken: JSON lines, to which
lines are only ever added. The first line is a header with the subject, the versions in its
environment and the machine. Each further line is one sample and its run. When the environment or
the machine has changed, another header stands before the next sample.
"""

from __future__ import annotations

import re
import secrets
import string
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from observatory.errors import Exit
from observatory.store.base.problems import RecordError
from observatory.store.base.record import Record
from observatory.store.base.strict_json import InvalidError, read_json
from observatory.store.records.machine import Machine
from observatory.store.records.sample import Finite, Sample
from observatory.store.records.subject import Subject, Versions

JOURNAL_SCHEMA = "observatory/journal/1"
LARGEST_LINE = 4 * 2**20
"""Bytes of one line; a longer one is refused on writing and skipped, by name, on reading."""
_MARKS = string.ascii_lowercase + string.digits
_MARK = re.compile(r"-x[a-z0-9]{6}$")
HEADER_MARK = b'{"schema":"observatory/journal/'
"""How every header line begins, and no other line."""
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_RUN_ID = r"\d{8}T\d{6}Z(-[a-z0-9-]{1,20})?"
RunId = Annotated[str, Field(pattern=f"^{_RUN_ID}$")]
RUN_MARK = re.compile(rf'\{{"run":"({_RUN_ID})"'.encode())
"""How every line of a sample begins; its first group is the id of the run."""


def new_run(plan: str) -> str:
    """The id of a run that begins now. ``plan``: a preset, or another word for what it takes.

    Its last six characters are random: two runs can begin in the same second.
    """
    mark = "".join(secrets.choice(_MARKS) for _ in range(6))
    return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{plan}-x{mark}"


SEARCH = "bisect"
"""The plan of what a search measured: single cells of subjects between two of a history."""


def plan_of(run: str) -> str:
    """What a run takes; empty for runs from before ids named it.

    >>> plan_of("20261120T143000Z-canary-full"), plan_of("20261120T143000Z")
    ('canary-full', '')
    >>> plan_of("20261120T143000Z-canary-full-x0a1b2c")
    'canary-full'
    """
    return _MARK.sub("", run.partition("-")[2])


class JournalError(RecordError):
    """A journal cannot take what it is given; the message says why."""

    exit_code = Exit.USAGE


class JournalHeader(Record):
    """What the samples below it are samples of."""

    schema_: Literal["observatory/journal/1"] = Field("observatory/journal/1", alias="schema")
    subject: Subject
    versions: Versions
    machine: Machine


class JournalLine(Record):
    """One sample, as written: its ledger is elsewhere, the seconds of its entries are here."""

    run: RunId = Field(description="start of the run in UTC, and its plan: 20261120T143000Z-night")
    sample: Sample
    ledger: Sha256 | None = Field(None, description="of results/ledgers/<ab>/<sha256>.json.gz")
    seconds: list[Finite] | None = Field(None, description="of the ledger's entries in order")

    profile: Sha256 | None = Field(None, description="of results/profiles/<ab>/<sha256>.json.gz")

    @model_validator(mode="after")
    def _ledger_is_elsewhere(self) -> Self:
        if self.sample.ledger is not None:
            raise ValueError("a journal line refers to its ledger by hash and does not contain it")
        if self.sample.profile is not None and self.sample.profile.tree is not None:
            raise ValueError("a journal line refers to a tree of calls and does not contain it")
        if (self.ledger is None) != (self.seconds is None):
            raise ValueError("`ledger` and `seconds` come together or not at all")
        return self


@dataclass(frozen=True)
class JournalEntry:
    """One sample of a journal, with the header that it was written under."""

    header: JournalHeader
    line: JournalLine
    raw: bytes  # the line as it stands in the file, without its newline

    @property
    def run(self) -> str:
        """The id of the run that took the sample; ids sort by the start of the run."""
        return self.line.run

    @property
    def sample(self) -> Sample:
        """The sample; its own ``ledger`` is None, as ledgers are stored apart."""
        return self.line.sample

    @property
    def ledger(self) -> str | None:
        """The SHA-256 of the sample's ledger in the `LedgerStore`; None if it has none."""
        return self.line.ledger

    @property
    def seconds(self) -> Sequence[float] | None:
        """The seconds of the ledger's entries, in the stored order; None without a ledger."""
        return self.line.seconds


@dataclass(frozen=True)
class UnreadableLine:
    """A line that this version cannot read, below a header; a later version may have written it."""

    header: JournalHeader
    raw: bytes  # the line as it stands in the file, without its newline


JournalRecord: TypeAlias = JournalEntry | UnreadableLine


def encoded(record: JournalHeader | JournalLine) -> bytes:
    """A header or a sample as a line of a journal, without the newline."""
    # `schema` is left out with the other defaults unless it is put first by hand.
    text = record.model_dump_json(by_alias=True, exclude_defaults=True)
    if isinstance(record, JournalHeader):
        text = f'{{"schema":"{JOURNAL_SCHEMA}",{text[1:]}'
    return text.encode()


def parsed(raw: bytes) -> JournalHeader | JournalLine | str:
    """A line of a journal as a record, or the reason why it is none, as half a sentence."""
    try:
        if raw.startswith(HEADER_MARK):
            return read_json(JournalHeader, raw)
        return read_json(JournalLine, raw)
    except InvalidError as error:
        return str(error)
