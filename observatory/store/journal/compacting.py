"""Keep a results directory small: compact old journals, remove ledgers that nothing refers to.

Of an old journal stays what some reader still reads, and nothing else: the samples that count for
their cells (`values.latest_runs`), each with its values, its reasons and what was wrong. These go:

- samples that later runs or another environment have outdated;
- how long the parts of a sample took, checks that were right;
- its builds one by one, unless each is a graph that is judged by itself;
- the environment of a sample, except for the first of each run on a CPU, which others share;
- the ledger of a second counting sample of a cell: nothing compares it;
- which Ops no graph has, except for the first counting sample of a cell;
- profiles, except for that of the first tracing sample of a cell;
- the last lines of stderr, except for the first sample of each way of failing.

A compacted journal is a journal like any other, and compacting it again changes nothing. What went
is in the history of the branch that it was compacted on.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from observatory.benchmarks.catalogue import SCENARIOS
from observatory.store.base.files import write_atomic
from observatory.store.base.locking import locked_content
from observatory.store.journal.models import (
    JournalEntry,
    JournalLine,
    JournalRecord,
    UnreadableLine,
    encoded,
)
from observatory.store.journal.reader import JournalContents, read_journal, written
from observatory.store.journal.values import (
    comparable,
    current_header,
    latest_runs,
    same_cpu,
    timed_elsewhere,
    timed_here_too,
    took_times,
)
from observatory.store.records import layout
from observatory.store.records.sample import Overhead


@dataclass
class Tidied:
    """What became smaller; sizes in bytes, of the journals that were compacted."""

    journals: int = 0
    before: int = 0
    after: int = 0
    ledgers: int = 0  # the ledgers that no journal refers to any more; they were removed


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
        *[e for e in entries if e.header == current and took_times(e.sample)][-1:],
        *timed_elsewhere(entries, current),
    ]
    read = counting | set(map(id, explaining))
    # Times of another CPU matter only if they stay for one of the reasons above.
    left = [entry for entry in entries if id(entry) in read or comparable(current, entry)]
    read |= set(map(id, timed_here_too(left, current)))
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
    known = SCENARIOS.get(sample.cell.scenario)
    graphs = sample.steps if known is not None and known.apart else []
    changes: dict[str, object] = {
        "environment": {}, "profile": None,
        "steps": graphs, "checks": wrong, "failure": failure, "overhead": overhead,
        "coverage": None, "leaked": {}, "effects": [],
    }  # fmt: skip
    less = sample.model_copy(update=changes)
    return line.model_copy(
        update={"sample": less, "ledger": None, "seconds": None, "profile": None}
    )


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
    covered = whole.sample.coverage
    if counts and covered is not None and _first(seen, "coverage", sample.cell):
        kept["coverage"] = covered
    if counts and whole.sample.leaked and _first(seen, "leaked", sample.cell):
        kept["leaked"] = whole.sample.leaked
    if counts and whole.sample.effects and _first(seen, "effects", sample.cell):
        kept["effects"] = whole.sample.effects
    changes: dict[str, object] = {"sample": sample.model_copy(update=kept)}
    of_ledger = counts and sample.status == "ok" and whole.ledger is not None
    if of_ledger and _first(seen, "ledger", sample.cell, sample.measure):
        changes |= {"ledger": whole.ledger, "seconds": whole.seconds}
    of_profile = counts and sample.status == "ok" and whole.profile is not None
    if of_profile and _first(seen, "profile", sample.cell):
        changes |= {"profile": whole.profile}
    less = less.model_copy(update=changes)
    return replace(entry, line=less, raw=encoded(less))


def tidy(results: Path, older_than: datetime | None) -> Tidied:
    """Compact the journals whose newest sample is older; remove ledgers that nothing refers to.

    With None no journal is compacted. No ledger is removed while any line of a journal is not JSON,
    as it may have referred to one. Raises OSError.
    """
    done = Tidied()
    named = [_named(_compact(path, older_than, done)) for path in layout.journals(results)]
    if None in named:
        return done
    referred = {sha for shas in named if shas is not None for sha in shas}
    for profile in (results / layout.PROFILES).glob("??/*.json.gz"):
        if profile.name.removesuffix(".json.gz") not in referred:
            profile.unlink()
    for ledger in (results / layout.LEDGERS).glob("??/*.json.gz"):
        if ledger.name.removesuffix(".json.gz") not in referred:
            ledger.unlink()
            done.ledgers += 1
    return done


def _compact(path: Path, older_than: datetime | None, done: Tidied) -> list[JournalRecord] | None:
    """Compact one journal if it is due; its records then, None if they are not all of its lines."""
    with locked_content(path):
        journal = read_journal(path, strict=True, whole=True)
        last = newest(journal.entries)
        if older_than is None or last is None or last >= older_than or not journal.complete:
            return journal.records if journal.complete else None
        records, before = compacted(journal), path.stat().st_size
        less = written(records)
        if len(less) < before:
            write_atomic(path, less)
            done.journals += 1
            done.before += before
            done.after += len(less)
        return records


def _named(records: list[JournalRecord] | None) -> set[str] | None:
    """What a journal refers to by hash: ledgers, profiles; None where that cannot be known."""
    if records is None:
        return None
    found: set[str] = set()
    for record in records:
        if not isinstance(record, UnreadableLine):
            found.update(filter(None, (record.ledger, record.line.profile)))
            continue
        try:  # any text in a line that a later version wrote may name a ledger
            found.update(_texts(json.loads(record.raw)))
        except (ValueError, RecursionError):
            return None
    return found


def _texts(value: Any) -> Iterator[str]:
    """Every text in a JSON value, the keys of objects included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for one in value:
            yield from _texts(one)
            if isinstance(value, dict):
                yield from _texts(value[one])
