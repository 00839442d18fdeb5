"""What was measured of one subject, read back with its ledgers: a side of a comparison."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from observatory.store.base.problems import Problem, RecordUsageError
from observatory.store.journal.contents import ContentError
from observatory.store.journal.ledgers import LedgerStore
from observatory.store.journal.models import SEARCH, JournalEntry, JournalHeader, plan_of
from observatory.store.journal.profiles import ProfileStore
from observatory.store.journal.reader import read_header, read_journal
from observatory.store.journal.values import latest_runs
from observatory.store.records import layout
from observatory.store.records.sample import LedgerEntry, Sample

_COMMIT = re.compile(r"[0-9a-f]{4,40}")
INTERLEAVED = "interleaved"
"""Ends the id of a run that measured two subjects side by side."""


@dataclass(frozen=True)
class Saved:
    """The samples that count for a subject, in the order taken; counting ones with ledgers."""

    header: JournalHeader
    samples: tuple[Sample, ...]
    runs: frozenset[str]
    problems: tuple[Problem, ...]

    def interleaved_with(self, other: Saved) -> bool:
        """Whether both sides were measured in one interleaved run and no other."""
        ours = self.runs | other.runs
        return len(ours) == 1 and all(plan_of(run) == INTERLEAVED for run in ours)


def looks_saved(text: str) -> bool:
    """Whether a text names saved results, DIR or DIR:LABEL, rather than something to measure."""
    return _split(text) is not None


def place_of_saved(text: str) -> tuple[Path, str | None]:
    """Directory and label of DIR or DIR:LABEL. Raises RecordUsageError if it is neither."""
    found = _split(text)
    if found is None:
        raise RecordUsageError(f"there is no results directory {text!r}")
    return found


def without_samples(text: str) -> bool:
    """Whether a text names asv's values, of which no journal of the observatory has the samples."""
    found = _split(text)
    if found is None:
        return False
    directory, label = found
    return not _called(_headers(directory), label)


def load(text: str) -> Saved:
    """Read the subject that ``text`` names as DIR or DIR:LABEL. Raises RecordError if not one."""
    return labelled(*place_of_saved(text))


def load_both(base: str, head: str, machine: str | None = None) -> tuple[Saved, Saved]:
    """Read two subjects, each named as for `load`.

    ``machine``: the one that measured both; None: the only one that did, or any where there are
    several or none. Raises RecordError as `load`.
    """
    places = place_of_saved(base), place_of_saved(head)
    if machine is None:
        both = _machines(*places[0]) & _machines(*places[1])
        if len(both) == 1:
            (machine,) = both
    found = [labelled(directory, label, machine) for directory, label in places]
    return found[0], found[1]


def _machines(directory: Path, label: str | None) -> set[str]:
    headers = _headers(directory)
    return {headers[path].machine.machine for path in _called(headers, label)}


def labelled(
    directory: Path, label: str | None, machine: str | None = None, ledgers: bool = True
) -> Saved:
    """Read the only subject with this label that was measured on this machine.

    None stands for any label or machine. ``ledgers``: as for `read_saved`. Raises RecordError if
    there is none, or more than one.
    """
    found = _headers(directory)
    machines = sorted({header.machine.machine for header in found.values()})
    if found and machine is not None and machine not in machines:
        raise RecordUsageError(
            f"{directory} has no results of machine {machine!r}; it has those of "
            f"{', '.join(machines)}"
        )
    headers = {
        path: header for path, header in found.items() if machine in (None, header.machine.machine)
    }
    named = _called(headers, label)
    if len(named) != 1:
        what = "no subject" if label is None else f"no subject {label!r}"
        if len(named) > 1:
            many = f"{len(named)} subjects" if label is None else f"{label!r} more than once"
            several = len({one.machine.machine for one in headers.values()}) > 1
            choose = "--machine" if several else "DIR:LABEL"
            what = f"{many}; choose one with {choose}"
        there = ", ".join(
            sorted(f"{one.subject.label} on {path.parent.name}" for path, one in headers.items())
        )
        raise RecordUsageError(
            f"{directory} holds {what}" + (f"; its subjects are {there}" if there else "")
        )
    (saved,) = filter(None, (read_saved(path, ledgers) for path in named))
    return saved


def _headers(directory: Path) -> dict[Path, JournalHeader]:
    """The headers of the journals that can be read."""
    found = {path: read_header(path) for path in layout.journals(directory)}
    return {path: header for path, header in found.items() if header is not None}


def _called(headers: Mapping[Path, JournalHeader], label: str | None) -> list[Path]:
    """The journals of subjects with this label, else of those whose commit begins so.

    None stands for any label.
    """
    subjects = {path: header.subject for path, header in headers.items()}
    same = [path for path, one in subjects.items() if label in (None, one.label)]
    begin = (label or "").lower()
    if same or not _COMMIT.fullmatch(begin):
        return same
    return [path for path, one in subjects.items() if one.commit.startswith(begin)]


def load_all(directory: Path) -> Iterator[Saved]:
    """Read every subject of a results directory, in the order of `place_of`.

    Without what searches measured: with one cell of a subject in between, the change that was
    searched for would begin there in one series and later in all others, and be two. Subjects are
    read one at a time, and of their ledgers only the tallies are kept: all may not fit into memory.
    """
    headed = [(path, read_header(path)) for path in layout.journals(directory)]
    for _, path in sorted((place_of(header), path) for path, header in headed if header):
        if saved := read_saved(path, searched=False, shelved=True):
            yield saved


def read_saved(
    journal: Path, ledgers: bool = True, searched: bool = True, shelved: bool = False
) -> Saved | None:
    """The subject of one journal; None where nothing in it can be read.

    ``ledgers``: whether to read them, too. ``searched``: whether samples of searches count.
    ``shelved``: whether only the tallies of ledgers are kept (`ShelvedLedger`).
    """
    contents = read_journal(journal)
    if contents.header is None:
        return None
    store = LedgerStore(layout.results_of(journal) / layout.LEDGERS)
    problems = list(contents.problems)
    current = contents.current()
    counted = latest_runs(
        current if searched else [one for one in current if plan_of(one.run) != SEARCH]
    )
    read = store.shelve if shelved else store.load_timed
    samples = tuple(
        _completed(entry, store, read, problems)
        if ledgers or entry.ledger is None
        else entry.sample
        for entry in counted
    )
    runs = frozenset(entry.run for entry in counted)
    return Saved(contents.header, samples, runs, tuple(problems))


def place_of(header: JournalHeader) -> tuple[str, str, datetime, str]:
    """The key by which subjects are sorted: machine, environment, date and commit."""
    subject = header.subject
    return header.machine.machine, subject.env_name, subject.date, subject.commit


def _split(text: str) -> tuple[Path, str | None] | None:
    if Path(text).is_dir():
        return Path(text), None
    directory, separator, label = text.rpartition(":")
    if separator and label and Path(directory).is_dir():
        return Path(directory), label
    return None


def _completed(
    entry: JournalEntry,
    store: LedgerStore,
    read: Callable[[str, Sequence[float]], Sequence[LedgerEntry]],
    problems: list[Problem],
) -> Sample:
    """The sample with its ledger or its profile, unless that cannot be read."""
    if entry.line.profile is not None:
        profiles = ProfileStore(store.directory.parent / layout.PROFILES)
        try:
            profile = profiles.load(entry.line.profile)
        except ContentError as error:
            problems.append(Problem(profiles.path(entry.line.profile), str(error)))
            return entry.sample
        return entry.sample.model_copy(update={"profile": profile})
    if entry.ledger is None or entry.seconds is None:
        return entry.sample
    try:
        ledger = read(entry.ledger, entry.seconds)
    except ContentError as error:
        problems.append(Problem(store.path(entry.ledger), str(error)))
        return entry.sample
    return entry.sample.model_copy(update={"ledger": ledger})
