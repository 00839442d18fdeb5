"""Merge results with those of a branch, and describe the outcome."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from observatory.objects.copies import fetched, is_copy
from observatory.store.base.files import write_atomic
from observatory.store.base.problems import Problem, RecordError
from observatory.store.journal.compacting import Tidied, tidy
from observatory.store.merging.directories import United, holds_all, unite
from observatory.store.reading.beside import problem_of
from observatory.store.records import alerts as alerts_record
from observatory.store.records import triage
from observatory.store.records.alerts import Alerts
from observatory.text.words import first_of, several

_NAMED = 3
_README = """\
# Results of the observatory

`observatory publish` writes what is here: it adds results and never rewrites the history. The files
are described in docs/results.md of the observatory. Only the acknowledgements of alerts,
`triage.toml` and `triage/*.toml`, are written by hand.
"""


@dataclass
class Publication:
    """What the last attempt changed."""

    united: United = field(default_factory=United)
    tidied: Tidied = field(default_factory=Tidied)
    notes: list[str] = field(default_factory=list)
    """Sentences on what stays as it is on purpose."""


def put_together(
    work: Path, parts: Sequence[Path], span: timedelta | None, complete: bool = True
) -> Publication:
    """Add results directories to ``work``, a checkout of the branch.

    Journals without a sample in the last ``span`` are compacted; None compacts none. ``complete``:
    whether ``work`` has all results of subjects, and not only those that the parts have, too.
    """
    new = not any(work.iterdir())
    united = unite(work, parts)
    notes = _take_acknowledgements(work, parts, new, united)
    tidied = tidy(work, None if span is None else datetime.now(UTC) - span)
    if complete:
        _adopt_alerts(work, parts, united.problems)
    if new and any(work.iterdir()):
        write_atomic(work / "README.md", _README.encode())
    return Publication(united, tidied, notes)


def _take_acknowledgements(
    work: Path, parts: Sequence[Path], new: bool, united: United
) -> list[str]:
    """Take over what people wrote; return a sentence for each file that is left out.

    A file that is not in ``work`` may have been removed there, and an acknowledgement that somebody
    took back must not return. So files come in if ``work`` is ``new``, or if they were written in a
    copy of a store after it was fetched, and the store still has what they were written over.
    """
    notes: list[str] = []
    for part in parts:
        try:
            triage.load(part)
            contents = {path: path.read_bytes() for path in triage.files(part)}
            known = fetched(part) if is_copy(part) else None
        except RecordError as error:
            united.problems.append(problem_of(error, part, triage.FILE))
            continue
        except OSError as error:
            reason = f"it cannot be read: {error.strerror}"
            united.problems.append(Problem(part / triage.FILE, reason))
            continue
        for source, content in contents.items():
            target = work / source.relative_to(part)
            there = target.read_bytes() if target.is_file() else None
            before = (known or {}).get(source.relative_to(part).as_posix())
            added = known is not None and _sha(there) == before != _sha(content)
            if (new and there is None) or added:
                write_atomic(target, content)
                united.files += 1
            elif content != there and (known is None or _sha(content) != before):
                notes.append(
                    f"{source} is not taken over: acknowledgements are written and taken back "
                    f"where results are published, in {triage.FILE} or in {triage.DIRECTORY}/"
                )
    return notes


def _sha(content: bytes | None) -> str | None:
    return None if content is None else hashlib.sha256(content).hexdigest()


def _adopt_alerts(work: Path, parts: Sequence[Path], problems: list[Problem]) -> None:
    """Take over the alerts of a part that contains everything on the branch.

    Alerts follow from all results together. If no part contains all, the branch keeps its alerts,
    from which the next ones take their ids and times.
    """
    best = _alerts_of(work, problems)
    for part in parts:
        found = _alerts_of(part, problems)
        if found is not None and _later(found, best) and holds_all(part, work):
            best = found
            alerts_record.save(work, found)


def _alerts_of(results: Path, problems: list[Problem]) -> Alerts | None:
    try:
        return alerts_record.load(results)
    except RecordError as error:
        problems.append(problem_of(error, results, alerts_record.FILE))
        return None


def _later(found: Alerts, best: Alerts | None) -> bool:
    if best is None or best.newest is None:
        return True
    return found.newest is not None and found.newest >= best.newest and found != best


def message(made: Publication) -> str:
    """The message of the commit."""
    headers = made.united.grown.values()
    labels = list(dict.fromkeys(header.subject.label for header in headers))
    machines = list(dict.fromkeys(header.machine.machine for header in headers))
    if not labels and not made.united.files:
        return "Results: nothing new\n"
    of = f"{first_of(labels, _NAMED)} on {first_of(machines, _NAMED)}" if labels else "new files"
    return f"Results: {of}\n\n" + "\n".join(lines(made)) + "\n"


def lines(made: Publication) -> list[str]:
    """Sentences that say what was added."""
    united, tidied = made.united, made.tidied
    samples = f"{several(united.samples, 'sample')} of {several(len(united.grown), 'subject')}"
    others = f"{several(united.ledgers, 'ledger')}, {several(united.files, 'other file')}"
    found = [f"new: {samples}, {others}"]
    if tidied.journals:
        found.append(
            f"{several(tidied.journals, 'journal')} compacted, {tidied.before:,} to "
            f"{tidied.after:,} bytes; {several(tidied.ledgers, 'ledger')} removed"
        )
    return [*found, *made.notes]
