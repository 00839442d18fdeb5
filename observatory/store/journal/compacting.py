"""What is kept of an old journal: what some reader still reads, and nothing else. Pure.

The samples that count for their cells (`values.latest_runs`) stay, each with its values, its
reasons and what was wrong. These go:

- samples that later runs or another environment have outdated;
- how long the parts of a sample took, its builds one by one, checks that were right;
- the environment of a sample, except for the first of each run on a CPU, which others share;
- the ledger of a second counting sample of a cell: nothing compares it;
- the last lines of stderr, except for the first sample of each way of failing.

A compacted journal is a journal like any other, and compacting it again changes nothing. What went
is in the history of the branch that it was compacted on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from observatory.store.journal.models import JournalEntry, JournalLine, JournalRecord, encoded
from observatory.store.journal.reader import JournalContents
from observatory.store.journal.values import (
    comparable,
    current_header,
    latest_runs,
    same_cpu,
    timed_elsewhere,
)
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
    explaining = [  # what `latest` and the pages read beside the samples that count
        *latest_runs(entry for entry in candidates if same_cpu(current, entry)),
        # The last sample of a cell gives the reason why there is nothing of it.
        *{entry.sample.cell: entry for entry in candidates}.values(),
        # The newest sample, the last one, and the one that makes the header current.
        max(reversed(entries), key=lambda entry: entry.sample.started_at),
        entries[-1],
        *[e for e in entries if e.header == current and e.sample.measure == "timing"][-1:],
        *timed_elsewhere(entries, current),
    ]
    read = counting | set(map(id, explaining))
    seen: set[tuple[object, ...]] = set()
    return [_less(entry, id(entry) in counting, seen) for entry in entries if id(entry) in read]


def bare(line: JournalLine) -> JournalLine:
    """A sample without what only explains it: its values, and what tells it from all others.

    Of the overhead the total stays, as `rest`, which is what the other parts do not explain.
    """
    sample = line.sample
    failure, overhead = sample.failure, sample.overhead
    if failure is not None and failure.stderr:
        failure = failure.model_copy(update={"stderr": []})
    if overhead is not None:
        parts = dict.fromkeys(Overhead.model_fields, 0.0)
        overhead = Overhead(**(parts | {"total": overhead.total, "rest": overhead.total}))
    wrong = [check for check in sample.checks if check.wrong]
    changes: dict[str, object] = {
        "environment": {}, "steps": [], "checks": wrong, "failure": failure, "overhead": overhead,
    }  # fmt: skip
    less = sample.model_copy(update=changes)
    return line.model_copy(update={"sample": less, "ledger": None, "seconds": None})


def _first(seen: set[tuple[object, ...]], *what: object) -> bool:
    """Whether something is the first of its kind; from then on it is not."""
    known = what in seen
    seen.add(what)
    return not known


def _less(entry: JournalEntry, counts: bool, seen: set[tuple[object, ...]]) -> JournalEntry:
    whole = entry.line
    less = bare(whole)
    sample = less.sample
    kept: dict[str, object] = {}
    if _first(seen, "environment", whole.run, entry.header.machine.cpu):
        kept["environment"] = whole.sample.environment
    if sample.failure is not None and _first(seen, "failure", sample.failure.message):
        kept["failure"] = whole.sample.failure
    changes: dict[str, object] = {"sample": sample.model_copy(update=kept)}
    of_ledger = counts and sample.status == "ok" and whole.ledger is not None
    if of_ledger and _first(seen, "ledger", sample.cell, sample.measure):
        changes |= {"ledger": whole.ledger, "seconds": whole.seconds}
    less = less.model_copy(update=changes)
    return replace(entry, line=less, raw=encoded(less))
