"""What is kept of an old journal: what some reader still reads, and nothing else. Pure.

The samples that count for their cells (`values.latest_runs`) stay, each with its values, its
reasons and what was wrong. These go:

- samples that later runs or another environment have outdated;
- how long the parts of a sample took, its builds one by one, checks that were right;
- the environment of a sample, except for the first of each run on a CPU, which others share;
- the ledger of a second counting sample of a cell: nothing compares it;
- profiles but that of the first tracing sample of a cell;
- the last lines of stderr, except for the first sample of each way of failing.

A compacted journal is a journal like any other, and compacting it again changes nothing. What went
is in the history of the branch that it was compacted on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from observatory.store.journal.comparability import (
    comparable,
    current_header,
    same_cpu,
    timed_elsewhere,
)
from observatory.store.journal.models import (
    JournalEntry,
    JournalHeader,
    JournalLine,
    JournalRecord,
    encoded,
)
from observatory.store.journal.reader import JournalContents
from observatory.store.journal.values import latest_runs
from observatory.store.records.sample import Overhead


def newest(entries: Iterable[JournalEntry]) -> datetime | None:
    """When the newest sample of a journal began; None if it has none."""
    return max((entry.sample.started_at for entry in entries), default=None)


def compacted(journal: JournalContents) -> list[JournalRecord]:
    """The records that are left of a journal; all of them if any line of it cannot be read."""
    entries, header = journal.entries, journal.last_header
    if journal.problems or not entries or entries[-1].header != header:
        return list(journal.records)
    current = current_header(entries, header)
    assert current is not None
    candidates = [entry for entry in entries if comparable(current, entry)]
    counting = set(map(id, latest_runs(candidates)))
    told = [
        *_told(candidates, current),
        _latest(entries),
        entries[-1],
        *timed_elsewhere(entries, current),
    ]
    # The sample that makes it the current header.
    told += [e for e in entries if e.header == current and e.sample.measure == "timing"][-1:]
    read = counting | set(map(id, told))
    once = _Once()
    return [_less(entry, id(entry) in counting, once) for entry in entries if id(entry) in read]


def bare(line: JournalLine) -> JournalLine:
    """A sample without what only explains it: its values, and what tells it from all others.

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
        "environment": {}, "profile": None,
        "steps": [], "checks": wrong, "failure": failure, "overhead": overhead,
    }  # fmt: skip
    less = sample.model_copy(update=changes)
    return line.model_copy(
        update={"sample": less, "ledger": None, "seconds": None, "profile": None}
    )


def _unexplained(total: float) -> Overhead:
    parts = dict.fromkeys(Overhead.model_fields, 0.0)
    return Overhead(**(parts | {"total": total, "rest": total}))


def _told(candidates: Sequence[JournalEntry], current: JournalHeader) -> Iterator[JournalEntry]:
    """What `latest` reads beside the samples that count."""
    yield from latest_runs(entry for entry in candidates if same_cpu(current, entry))
    # The last sample of a cell tells why there is nothing of it.
    yield from {entry.sample.cell: entry for entry in candidates}.values()


def _latest(entries: Sequence[JournalEntry]) -> JournalEntry:
    """The newest sample: pages say when it was taken, whatever it is of."""
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


def _less(entry: JournalEntry, counts: bool, once: _Once) -> JournalEntry:
    whole = entry.line
    less = bare(whole)
    sample = less.sample
    kept: dict[str, object] = {}
    if once.first("environment", whole.run, entry.header.machine.cpu):
        kept["environment"] = whole.sample.environment
    if sample.failure is not None and once.first("failure", sample.failure.message):
        kept["failure"] = whole.sample.failure
    changes: dict[str, object] = {"sample": sample.model_copy(update=kept)}
    of_ledger = counts and sample.status == "ok" and whole.ledger is not None
    if of_ledger and once.first("ledger", sample.cell, sample.measure):
        changes |= {"ledger": whole.ledger, "seconds": whole.seconds}
    of_profile = counts and sample.status == "ok" and whole.profile is not None
    if of_profile and once.first("profile", sample.cell):
        changes |= {"profile": whole.profile}
    less = less.model_copy(update=changes)
    return replace(entry, line=less, raw=encoded(less))
