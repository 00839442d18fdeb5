"""What of an old journal is still read, and nothing else. Pure.

Left are the samples that speak for their cells (`latest`), each with its values, its reasons and
what was wrong. Out go

- samples that later runs or another environment have outdated;
- how long the parts of a sample took, its builds one by one, checks that were right;
- the environment of a sample, but for the first of each run on a CPU, which others share;
- the ledger of a second counting sample of a cell: no one compares it;
- the last lines of stderr, but for the first sample of each way of failing.

A compacted journal is a journal as any other, and compacting it again changes nothing. What went
is in the history of the branch that it was compacted on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from observatory.record.journal import JournalEntry, JournalHeader
from observatory.record.latest import speaking
from observatory.record.lines import Line, Lines, bare, encoded
from observatory.record.standing import admits, of_its_cpu, standing_header, timed_elsewhere


def newest(lines: Iterable[Line]) -> datetime | None:
    """When the newest sample of a journal began; None if it has none."""
    return max((e.parsed.sample.started_at for e in lines if e.parsed is not None), default=None)


def compacted(journal: Lines) -> list[Line]:
    """What is left of a journal. One of which not all can be read stays as it is."""
    lines, header = journal.all, journal.header
    if journal.problems or header is None or not lines or lines[-1].header != header:
        return list(lines)
    entries = [_entry(line) for line in lines]
    standing = standing_header(entries, header)
    assert standing is not None
    current = [entry for entry in entries if admits(standing, entry)]
    speaks = set(map(id, speaking(current)))
    told = [
        *_told(current, standing),
        _latest(entries),
        entries[-1],
        *timed_elsewhere(entries, standing),
    ]
    # The sample that makes it the standing one.
    told += [e for e in entries if e.header == standing and e.sample.measure == "timing"][-1:]
    read = speaks | set(map(id, told))
    once = _Once()
    return [
        _less(line, id(entry) in speaks, once)
        for line, entry in zip(lines, entries, strict=True)
        if id(entry) in read
    ]


def _told(current: Sequence[JournalEntry], standing: JournalHeader) -> Iterator[JournalEntry]:
    """What `latest` reads beside the samples that speak."""
    given = [entry for entry in current if entry.sample.status != "unavailable"]
    yield from speaking(given)
    yield from speaking(entry for entry in given if of_its_cpu(standing, entry))
    # Why there is nothing of a cell is told by its last sample.
    yield from {entry.sample.cell: entry for entry in current}.values()


def _latest(entries: Sequence[JournalEntry]) -> JournalEntry:
    """Pages say when the newest sample was taken, whatever it is of."""
    return max(reversed(entries), key=lambda entry: entry.sample.started_at)


class _Once:
    """What was seen already."""

    def __init__(self) -> None:
        self._seen: set[tuple[object, ...]] = set()

    def first(self, *what: object) -> bool:
        """Whether this is the first of its kind; from then on it is not."""
        known = what in self._seen
        self._seen.add(what)
        return not known


def _less(line: Line, speaks: bool, once: _Once) -> Line:
    whole = line.parsed
    assert whole is not None
    less = bare(whole)
    sample = less.sample
    kept: dict[str, object] = {}
    if once.first("environment", whole.run, line.header.machine.cpu):
        kept["environment"] = whole.sample.environment
    if sample.failure is not None and once.first("failure", sample.failure.message):
        kept["failure"] = whole.sample.failure
    changes: dict[str, object] = {"sample": sample.model_copy(update=kept)}
    of_ledger = speaks and sample.status == "ok" and whole.ledger is not None
    if of_ledger and once.first("ledger", sample.cell, sample.measure):
        changes |= {"ledger": whole.ledger, "seconds": whole.seconds}
    less = less.model_copy(update=changes)
    return Line(line.header, encoded(less), less)


def _entry(line: Line) -> JournalEntry:
    assert line.parsed is not None
    said = line.parsed
    seconds = None if said.seconds is None else tuple(said.seconds)
    return JournalEntry(said.run, said.sample, said.ledger, seconds, line.header)
