"""The histories in results directories, as changes are looked for in them."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import TypeVar

from observatory.analyze.comparison.comparing import Who, who_of
from observatory.analyze.comparison.evidence import Evidence, same_words
from observatory.analyze.history.detection import Histories
from observatory.analyze.history.faults import fault_changes, fault_records
from observatory.analyze.history.followed import CountedSubject, History
from observatory.analyze.history.machine_floors import MachineFloors
from observatory.analyze.history.recorded import Run
from observatory.analyze.history.segments import SegmentedSeries
from observatory.analyze.history.series import lines_of
from observatory.analyze.history.settings_changes import settings_changes, settings_records
from observatory.app.fingerprints import fingerprint
from observatory.store.base.problems import Problem, RecordError
from observatory.store.reading.beside import problem_of
from observatory.store.reading.read import Results
from observatory.store.reading.saved import Saved, load_all, place_of, read_saved
from observatory.store.reading.summaries import JournalSummary
from observatory.store.records import layout, settings, torture
from observatory.store.records.alerts import at_of, cut
from observatory.store.records.calibration import Calibration
from observatory.store.records.sample import Sample
from observatory.store.records.triage import Triage

_Record = TypeVar("_Record")


def watched_of(
    directories: Sequence[Path],
    read: Results,
    tracks: Sequence[SegmentedSeries],
    problems: list[Problem],
    floors: MachineFloors,
) -> Histories:
    """The histories in results that were read; what cannot be read is added to ``problems``."""
    saved = heapq.merge(
        *(load_all(directory) for directory in directories), key=lambda one: place_of(one.header)
    )
    tried = loaded(torture.load_all, directories, problems)
    crossed = loaded(settings.load_all, directories, problems)
    return Histories(
        tracks=tracks,
        histories=_histories(saved, problems),
        runs=list(runs_of(read)),
        last_good=max(filter(None, map(_good, read.journals.values())), default=None),
        samples=_samples_of(read),
        without_series=[*fault_changes(tried), *settings_changes(crossed)],
        records=fault_records(tried) | settings_records(crossed),
        unread=frozenset(_machines(read.unread, directories)),
        floors=floors,
    )


def _machines(unread: Iterable[Path], directories: Sequence[Path]) -> Iterator[str]:
    """The machines that files are of, by their places."""
    for path in unread:
        for directory in directories:
            if path.is_relative_to(directory):
                yield directory.resolve().name  # that of one machine
                parts = path.relative_to(directory).parts
                yield from parts[1:2] if parts[:1] == (layout.SAMPLES,) else parts[:1]


def loaded(
    load: Callable[[Path], Iterator[_Record | RecordError]],
    directories: Sequence[Path],
    problems: list[Problem],
) -> list[_Record]:
    """The records of one kind in all directories; broken ones are added to ``problems``."""
    found = []
    for directory in directories:
        for one in load(directory):
            if isinstance(one, RecordError):
                problems.append(problem_of(one, directory, ""))
            else:
                found.append(one)
    return found


def _samples_of(read: Results) -> Callable[[Who], Sequence[Sample]]:
    """Return what reads the samples of a subject, without their ledgers; none where it has none."""
    journals = {
        who_of(one.header): path for path, one in read.journals.items() if one.header is not None
    }

    @lru_cache(maxsize=2)
    def samples(who: Who) -> Sequence[Sample]:
        saved = read_saved(journals[who], ledgers=False) if who in journals else None
        return () if saved is None else saved.samples

    return samples


def _histories(saved: Iterable[Saved], problems: list[Problem]) -> Iterator[History]:
    """A history for each machine and environment; ``saved`` is sorted by them, then by date."""

    def whole(one: Saved) -> Saved:
        problems.extend(problem for problem in one.problems if problem not in problems)
        return one

    for (machine, env_name), subjects in groupby(saved, lambda one: place_of(one.header)[:2]):
        measured = (whole(one) for one in _each_once(subjects) if one.samples)
        counted = (
            CountedSubject(
                at_of(one.header.subject), Evidence.of(one.samples), number, one.header.machine.cpu
            )
            for number, one in enumerate(measured)
        )
        yield History(machine, env_name, counted)


def _each_once(subjects: Iterable[Saved]) -> Iterator[Saved]:
    """Take a subject that is in several directories from the first, as its values are."""
    for _, same in groupby(subjects, key=lambda one: one.header.subject.commit):
        yield next(same)


def made_of(
    directories: Sequence[Path], read: Results, triage: Triage, learned: Sequence[Calibration]
) -> str:
    """The `fingerprint` of everything in results directories that alerts follow from."""
    faults = loaded(torture.load_all, directories, [])
    crossed = loaded(settings.load_all, directories, [])
    return fingerprint(read, triage, faults, crossed, learned)


def runs_of(read: Results) -> Iterator[Run]:
    """The newest subject of each machine and environment, and when it was measured.

    Without a journal, the date of the subject stands for the time of the measurement. Subjects that
    only a search has measured count for nothing: who searches once has no habit of measuring.
    """
    summaries = {
        (one.header.subject.commit, one.header.machine.machine, one.header.subject.env_name): one
        for one in read.journals.values()
        if one.header is not None
    }
    for (machine, env_name), lines in groupby(lines_of(read), lambda o: (o.machine, o.env_name)):
        known = [
            (subject, summaries.get((subject.commit, machine, env_name)))
            for line in lines
            for subject in line.subjects
        ]
        subjects = [one for one, summary in known if summary is None or summary.measured_at]
        if not subjects:
            continue
        newest = max(subjects, key=lambda subject: subject.date)
        moments = [one.measured_at for _, one in known if one and one.measured_at]
        yield Run(
            cut(machine), cut(env_name), at_of(newest), max(moments, default=newest.date),
            len(subjects), _failures(summaries.get((newest.commit, machine, env_name))),
        )  # fmt: skip


def _failures(summary: JournalSummary | None) -> dict[str, list[str]]:
    """The reasons why samples failed, each with its cells."""
    found: dict[str, list[str]] = defaultdict(list)
    for note in summary.notes if summary else ():
        if note.kind == "failed":
            found[same_words(note.text)].append(str(note.cell))
    return dict(found)


def _good(summary: JournalSummary) -> datetime | None:
    """When a run was measured; None if a sample of it failed."""
    failed = any(note.kind == "failed" for note in summary.notes)
    return None if failed else summary.measured_at
