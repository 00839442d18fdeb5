"""The lines of a journal as they were written, for those who write a journal anew.

Whoever reads values takes `journal.read_journal`. Here a line keeps its bytes, so that a journal
that is merged with nothing new stays as it is, byte for byte.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path

from pydantic import ValidationError

from observatory.record.journal import (
    JOURNAL_SCHEMA,
    LARGEST_LINE,
    JournalHeader,
    JournalLine,
)
from observatory.record.problems import Problem, reason_of
from observatory.record.sample import Overhead

_MARK = b'{"schema":"observatory/journal/'


@dataclass(frozen=True)
class Line:
    """One sample of a journal, under the header that it was written under."""

    header: JournalHeader
    raw: bytes
    """As it stands in the file, without its newline."""
    parsed: JournalLine | None
    """None: this version cannot read it."""

    @property
    def essence(self) -> bytes:
        """What is the same in a line and in what compaction leaves of it, and in no other."""
        return self.raw if self.parsed is None else encoded(bare(self.parsed))

    @property
    def place(self) -> tuple[str, str]:
        """The run, and when the sample began: by this lines are in the order taken."""
        if self.parsed is None:
            return "", ""
        return self.parsed.run, self.parsed.sample.started_at.astimezone(UTC).isoformat()


@dataclass(frozen=True)
class Lines:
    """The lines below a whole header; what cannot be read is named. ``header`` is the last one."""

    path: Path
    header: JournalHeader | None
    all: tuple[Line, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def readable(self) -> tuple[Line, ...]:
        """The lines that this version can read."""
        return tuple(line for line in self.all if line.parsed is not None)


def read_lines(path: Path) -> Lines:
    """Every line of a journal. Raises nothing for bad content, OSError for an unread file."""
    header: JournalHeader | None = None
    found: list[Line] = []
    problems: list[Problem] = []
    for number, raw in _raw_lines(path):
        said = _parsed(raw)
        if isinstance(said, JournalHeader) and (header is None or said.subject == header.subject):
            header = said
            continue
        parsed = said if isinstance(said, JournalLine) else None
        if header is not None:
            found.append(Line(header, raw, parsed))
        if header is None or parsed is None:
            reason = said if isinstance(said, str) else "it has no header, or another subject's"
            problems.append(Problem(path, f"the line is left out: {reason}", number))
    return Lines(path, header, tuple(found), tuple(problems))


def written(lines: Iterable[Line]) -> bytes:
    """A journal of these lines; a header comes before the first that was written under it."""
    parts: list[bytes] = []
    header: JournalHeader | None = None
    for line in lines:
        if line.header != header:
            header = line.header
            parts.append(encoded(header))
        parts.append(line.raw)
    return b"".join(part + b"\n" for part in parts)


def encoded(record: JournalHeader | JournalLine) -> bytes:
    """A line as `Journal.append` writes it, without its newline."""
    text = record.model_dump_json(by_alias=True, exclude_defaults=True)
    if isinstance(record, JournalHeader):
        text = f'{{"schema":"{JOURNAL_SCHEMA}",{text[1:]}'
    return text.encode()


def bare(line: JournalLine) -> JournalLine:
    """A sample with nothing that only explains it: its values, and what tells it from all others.

    Of the overhead the total stays, as `rest`, which is what the other parts do not explain.
    """
    sample = line.sample
    failure, overhead = sample.failure, sample.overhead
    if failure is not None and failure.stderr:
        failure = failure.model_copy(update={"stderr": []})
    if overhead is not None:
        overhead = _unexplained(overhead.total)
    wrong = [check for check in sample.checks if check.wrong]
    changes: dict[str, object] = {
        "environment": {}, "steps": [], "checks": wrong, "failure": failure, "overhead": overhead,
    }  # fmt: skip
    less = sample.model_copy(update=changes)
    return line.model_copy(update={"sample": less, "ledger": None, "seconds": None})


def _parsed(raw: bytes) -> JournalHeader | JournalLine | str:
    """A line as a record, or the reason why it is none."""
    try:
        if raw.startswith(_MARK):
            return JournalHeader.model_validate_json(raw)
        return JournalLine.model_validate_json(raw)
    except ValidationError as error:
        return reason_of(error)


def _unexplained(total: float) -> Overhead:
    parts = dict.fromkeys(Overhead.model_fields, 0.0)
    return Overhead(**(parts | {"total": total, "rest": total}))


def _raw_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Number and bytes of each line, of those above LARGEST_LINE only so many bytes."""
    number = 0
    with path.open("rb") as stream:
        while raw := stream.readline(LARGEST_LINE + 1):
            number += 1
            yield number, raw.removesuffix(b"\n")
            while len(raw) > LARGEST_LINE and not raw.endswith(b"\n"):
                raw = stream.readline(LARGEST_LINE + 1)
