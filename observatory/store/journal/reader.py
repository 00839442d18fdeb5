"""Reading a journal: every line as it stands in the file and as what it says.

Each record keeps its bytes, so that a journal that is read and written again (`written`) is the
same byte for byte, with the lines that this version cannot read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

from observatory.store.base.problems import Problem
from observatory.store.base.strict_json import values_in
from observatory.store.journal.models import (
    HEADER_MARK,
    LARGEST_LINE,
    RUN_MARK,
    JournalEntry,
    JournalHeader,
    JournalLine,
    JournalRecord,
    UnreadableLine,
    encoded,
    parsed,
)
from observatory.store.journal.values import comparable_entries, current_header

MOST_UNREADABLE = 10_000
"""Lines of one journal that cannot be read: each takes some hundred bytes of memory."""
LARGEST_JOURNAL = 16 * 2**20
"""Bytes of one journal that are read, the last ones; the samples before them are skipped."""
MOST_VALUES = 800_000
"""Values of one journal that are read, which take 170 bytes each: five times as many as the longest
committed journal has."""
_TORN = "the last line is torn: the process was killed while it wrote; it is skipped"


@dataclass(frozen=True)
class JournalContents:
    """What could be read of a journal, and what could not, by name."""

    path: Path
    last_header: JournalHeader | None
    """The header that the last sample is under; None if there is no whole header."""
    records: list[JournalRecord] = field(default_factory=list)
    """Every line below a header, in the order of the file."""
    problems: list[Problem] = field(default_factory=list)
    complete: bool = True
    """Whether `written` of the records loses no line of the file. False: a line stands before the
    first header or is longer than LARGEST_LINE, or the file could not be read to its end."""

    @cached_property
    def entries(self) -> list[JournalEntry]:
        """The samples that this version can read, in the order of the file."""
        return [one for one in self.records if isinstance(one, JournalEntry)]

    @cached_property
    def header(self) -> JournalHeader | None:
        """What the journal's values are values of: see `values.current_header`."""
        return current_header(self.entries, self.last_header)

    def current(self) -> list[JournalEntry]:
        """The entries that are comparable under ``header``: see `comparable_entries`."""
        header = self.header
        return [] if header is None else comparable_entries(header, self.entries)


def read_journal(path: Path, *, strict: bool = False, whole: bool = False) -> JournalContents:
    """Read all of a journal that is whole; what is not whole is among the problems.

    After very many lines that it cannot read it does not look at the rest, and says so. Of more
    than LARGEST_JOURNAL bytes or MOST_VALUES values it reads the last ones, unless ``whole``, which
    is for compaction. A file that cannot be read is a problem, too; with ``strict`` it raises
    OSError, for whoever writes the journal again from what was read.
    """
    header: JournalHeader | None = None
    records: list[JournalRecord] = []
    problems: list[Problem] = []
    orphans, complete = 0, True
    for number, raw, broken in _lines(path, strict=strict, whole=whole):
        found = broken or parsed(raw)
        if isinstance(found, JournalHeader) and (
            header is None or found.subject.same_as(header.subject)
        ):
            header = found
            continue
        if isinstance(found, str):
            if len(problems) >= MOST_UNREADABLE:
                reason = f"more than {MOST_UNREADABLE:,} lines cannot be read: the rest is skipped"
                problems.append(Problem(path, reason, number))
                complete = False
                break
            if broken is None:
                found = f"the line is skipped: {found}" if raw.endswith(b"\n") else _TORN
            problems.append(Problem(path, found, number))
        elif isinstance(found, JournalHeader):
            reason = "a header of another subject; the lines after it are read as before it"
            problems.append(Problem(path, reason, number))
        if broken is not None:
            complete = False
        elif header is None:
            complete = False
            orphans += isinstance(found, JournalLine)
        elif isinstance(found, JournalLine):
            records.append(JournalEntry(header, found, raw.removesuffix(b"\n")))
        else:
            records.append(UnreadableLine(header, raw.removesuffix(b"\n")))
    if header is None:
        reason = f"there is no whole header line; {orphans} samples without one were skipped"
        problems.append(Problem(path, reason))
    elif orphans:
        problems.append(Problem(path, f"{orphans} samples before the first header were skipped"))
    return JournalContents(path, header, records, problems, complete)


def too_much(size: int, values: int) -> str | None:
    """What is said of a journal of so many bytes and values; None if all of it is read."""
    if size > LARGEST_JOURNAL:
        return f"the journal is larger than {LARGEST_JOURNAL:,} bytes"
    return f"the journal holds more than {MOST_VALUES:,} values" if values > MOST_VALUES else None


def read_header(path: Path) -> JournalHeader | None:
    """The last header of a journal, without reading its samples; None if there is none."""
    header: JournalHeader | None = None
    for _, raw, _ in _lines(path, whole=True):
        if raw.startswith(HEADER_MARK) and isinstance(found := parsed(raw), JournalHeader):
            header = found if header is None or found.subject.same_as(header.subject) else header
    return header


def runs_in(path: Path) -> Iterator[str]:
    """The id of the run of each sample of a journal, in the order of the file, without parsing any.

    A last line that a kill has torn is none; a journal that cannot be read has none.
    """
    for _, raw, _ in _lines(path, whole=True):
        if (found := RUN_MARK.match(raw)) and raw.endswith(b"\n"):
            yield found[1].decode()


def written(records: Iterable[JournalRecord]) -> bytes:
    """A journal of these records; a header comes before the first that was written under it."""
    parts: list[bytes] = []
    header: JournalHeader | None = None
    for record in records:
        if record.header != header:
            header = record.header
            parts.append(encoded(header))
        parts.append(record.raw)
    return b"".join(part + b"\n" for part in parts)


def _lines(
    path: Path, *, strict: bool = False, whole: bool
) -> Iterator[tuple[int, bytes, str | None]]:
    """Number, bytes and what is wrong with each line; never more than LARGEST_LINE in memory."""
    number, named = 0, False
    try:
        with path.open("rb") as stream:
            size, values = (0, 0) if whole else _extent(stream)
            while raw := stream.readline(LARGEST_LINE + 1):
                number += 1
                reason = too_much(size, values)
                size, values = size - len(raw), values - values_in(raw)
                long = len(raw) > LARGEST_LINE
                if reason and not raw.startswith(HEADER_MARK):
                    if not named:
                        named = True
                        advice = "only its newest samples are read; move it away to begin a new one"
                        yield number, b"", f"{reason}: {advice}"
                elif long:
                    yield number, b"", f"the line is longer than {LARGEST_LINE:,} bytes and skipped"
                else:
                    yield number, raw, None
                while long and raw and not raw.endswith(b"\n"):
                    raw = stream.readline(LARGEST_LINE)
                    size, values = size - len(raw), values - values_in(raw)
    except OSError as error:
        if strict:
            raise
        yield number + 1, b"", f"the journal cannot be read: {error.strerror}"


def _extent(stream: BinaryIO) -> tuple[int, int]:
    """How many bytes and values a journal has; it is read from the beginning then."""
    size = values = 0
    while chunk := stream.read(2**20):
        size, values = size + len(chunk), values + values_in(chunk)
    stream.seek(0)
    return size, values
