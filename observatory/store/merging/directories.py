"""Unite several results directories: what matrix jobs and other machines measured.

Journals are merged sample by sample, ledgers are copied, and asv's files are made anew from the
merged journals. Of records that are replaced as a whole, the one taken last stays. What people
write (``triage.toml``) and what follows from all results (``alerts.json``) is not touched.

A file of a part that is broken, too large, a link, or not where its content belongs is named and
left out. Nothing is ever taken out of the directory that is added to.
"""

from __future__ import annotations

import os
import stat
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from observatory.store.asv.listing import listing
from observatory.store.base.files import write_atomic
from observatory.store.base.locking import locked_content
from observatory.store.base.problems import Problem, RecordError, RecordUsageError
from observatory.store.base.record import RecordFiles
from observatory.store.base.strict_json import values_in
from observatory.store.journal.compacting import compacted
from observatory.store.journal.contents import ContentError, ContentStore
from observatory.store.journal.ledgers import LedgerStore
from observatory.store.journal.merging import merged
from observatory.store.journal.models import JournalEntry, JournalHeader
from observatory.store.journal.profiles import ProfileStore
from observatory.store.journal.reader import JournalContents, read_journal, too_much, written
from observatory.store.merging.asv import unite_benchmarks, unite_result_files
from observatory.store.records import layout
from observatory.store.records.kinds import KINDS

LARGEST_PART = 256 * 2**20
"""Bytes of a journal in a part; a larger one is named and left out."""


@dataclass
class United:
    """What came in, and what did not."""

    samples: int = 0
    grown: dict[Path, JournalHeader] = field(default_factory=dict)
    """The journals that are new or grew, by their path within the directory."""
    ledgers: int = 0
    files: int = 0  # others that are new or changed: imports, calibrations, ...
    problems: list[Problem] = field(default_factory=list)


def unite(into: Path, parts: Sequence[Path]) -> United:
    """Add what is in ``parts`` to the results directory ``into``; doing it again changes nothing.

    Raises OSError, and RecordError if a part is no directory or ``into`` has a broken file.
    """
    for part in parts:
        if not part.is_dir():
            raise RecordUsageError(f"there is no results directory {part}")
    done = United()
    by_path: dict[Path, list[Path]] = defaultdict(list)
    for part in parts:
        for path in layout.journals(part):
            by_path[path.relative_to(part)].append(part)
    for path, holders in sorted(by_path.items()):
        # One subject at a time: all journals of a long history may not fit into memory.
        found = (_journal(part, path, done.problems) for part in holders)
        if journals := [one for one in found if one is not None]:
            _unite_journal(into, path, journals, done)
    done.files += unite_benchmarks(into, parts, done.problems)
    done.files += unite_result_files(into, parts, done.problems)
    done.files += sum(_unite_records(kind, into, parts, done.problems) for kind in KINDS)
    return done


def holds_all(part: Path, of: Path) -> bool:
    """Whether every sample and every other result in the directory ``of`` is in ``part``, too.

    Samples are known by run and start, lines that cannot be read by their bytes. asv's files that
    were made from journals are not compared: another version may make them otherwise. Raises
    OSError.
    """
    for path in layout.journals(of):
        there = part / path.relative_to(of)
        if not there.is_file() or not _samples(path) <= _samples(there):
            return False
    for listed in listing(of).results:
        if layout.journal_beside(of, listed.path).is_file():
            continue
        there = part / listed.path.relative_to(of)
        if not there.is_file() or there.read_bytes() != listed.path.read_bytes():
            return False
    return True


def _samples(journal: Path) -> set[tuple[str, datetime] | bytes]:
    return {
        (one.run, one.sample.started_at) if isinstance(one, JournalEntry) else one.raw
        for one in read_journal(journal, strict=True).records
    }


def _journal(part: Path, name: Path, problems: list[Problem]) -> JournalContents | None:
    """A journal of a part if it is what its name says; what cannot be read is named."""
    path = part / name
    try:
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode) or not path.resolve().is_relative_to(part.resolve()):
            raise RecordError("it is not a regular file")
        if found.st_size > LARGEST_PART:
            raise RecordError(f"it is larger than {LARGEST_PART:,} bytes")
        journal = read_journal(path, strict=True)
        problems += journal.problems
        header = journal.last_header
        if header is None:
            return None  # a problem of the journal says so
        right = layout.journal_path(part, header.machine.machine, header.subject)
        if right != path:
            raise RecordError(f"it belongs at {right}")
    except RecordError as error:
        problems.append(Problem(path, f"it is left out: {error}"))
    except OSError as error:
        problems.append(Problem(path, f"it cannot be read: {error.strerror}"))
    else:
        return journal
    return None


def _unite_journal(
    into: Path, path: Path, journals: Sequence[JournalContents], done: United
) -> None:
    """Merge journals into the one that is there, and make asv's file of it."""
    target = into / path
    if not target.is_file() and not any(journal.entries for journal in journals):
        return
    # Nobody may append between the reading and the writing: what they append would be lost.
    with locked_content(target) as stream:
        empty = stream.seek(0, os.SEEK_END) == 0
        there = JournalContents(target, None) if empty else read_journal(target, strict=True)
        if not there.complete:
            reason = "it has lines that cannot be read and kept; it stays as it is"
            done.problems.append(Problem(target, reason))
            return
        subject = next(one.last_header.subject for one in (there, *journals) if one.last_header)
        same = [
            one for one in journals if one.last_header and one.last_header.subject.same_as(subject)
        ]
        reason = f"it is left out: {target} is of another subject"
        done.problems += [Problem(one.path, reason) for one in journals if one not in same]
        # Nothing that is there already is lost, not even what this version cannot read.
        records = merged([there.records, *(journal.entries for journal in same)])
        if not records:
            return
        done.ledgers += _copied(
            LedgerStore, layout.LEDGERS, lambda one: one.ledger, into, same, done.problems
        )
        _copied(
            ProfileStore, layout.PROFILES, lambda one: one.line.profile, into, same, done.problems
        )
        more = len(records) - len(there.records)
        header, content = records[-1].header, written(records)
        if _too_much(content):  # a subject that is measured every night
            records = compacted(JournalContents(target, header, records))
            content = written(records)
        if long := _too_much(content):
            done.problems.append(Problem(target, f"{long} with what is added; it stays as it is"))
            return
        grown = empty or target.read_bytes() != content
        asv_file = layout.asv_path(into, header.machine.machine, subject)
        if grown or not asv_file.is_file():
            from observatory.store.asv.files import project  # asv takes long to import

            for problem in project(into, JournalContents(target, header, records)):
                if problem not in done.problems:
                    done.problems.append(problem)
        if grown:
            # After asv's file: interrupted in between, the next time the journal grows again.
            write_atomic(target, content)
            done.samples += more
            done.grown[path] = header


def _too_much(content: bytes) -> str | None:
    return too_much(len(content), values_in(content))


def _copied(
    kind: type[ContentStore[Any]], directory: str, named: Callable[[JournalEntry], str | None],
    into: Path, journals: Sequence[JournalContents], problems: list[Problem],
) -> int:  # fmt: skip
    """Copy the contents of a kind that journals refer to; returns how many.

    One that is not what its name says is named.
    """
    target, copied = kind(into / directory), 0
    for journal in journals:
        source = kind(layout.results_of(journal.path) / directory)
        for sha in dict.fromkeys(map(named, journal.entries)):
            if sha is None or target.path(sha).is_file():
                continue
            try:
                source.load(sha)  # what is wrong there must not hide what is right elsewhere
                write_atomic(target.path(sha), source.path(sha).read_bytes())
            except ContentError as error:
                problems.append(Problem(journal.path, str(error)))
            else:
                copied += 1
    return copied


def _unite_records(
    files: RecordFiles[Any], into: Path, parts: Sequence[Path], problems: list[Problem]
) -> int:
    """Copy records of one kind that were taken later than those of ``into``; how many.

    A file of ``into`` that cannot be read stays: a newer version may have written it.
    """
    changed = 0
    there: set[Path] = set()
    orders: dict[Path, tuple[datetime, str]] = {}
    taken: dict[Path, Any] = {}
    for directory in (into, *parts):
        for one in files.load_all(directory):
            if isinstance(one, RecordError):
                problems += [Problem(directory, str(one))] if directory != into else []
                continue
            path, order = files.path_of(into, one), (files.taken_at(one), one.model_dump_json())
            if directory == into:
                there.add(path)
            if path not in orders or order > orders[path]:
                orders[path] = order
                taken |= {path: one} if directory != into else {}
    for path, one in taken.items():
        if path.exists() and path not in there:
            problems.append(Problem(path, "it cannot be read and stays as it is"))
        else:
            files.save(into, one)
            changed += 1
    return changed
