"""What is in a results directory, as `observatory.decide.watch` takes it."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import groupby
from pathlib import Path

from observatory.cli.fingerprint import fingerprint
from observatory.cli.version import tool_version
from observatory.decide.alerts import Moment, Run
from observatory.decide.counts import Counted, History
from observatory.decide.evidence import Evidence
from observatory.decide.sentences import same_words
from observatory.decide.series import lines_of, series_of
from observatory.decide.timeline import at
from observatory.decide.track import Track, tracked
from observatory.decide.watch import Watched, watch
from observatory.record import triage
from observatory.record.alerts import Alerts, At
from observatory.record.cache import directory_for
from observatory.record.problems import Problem, RecordError
from observatory.record.read import Results, read_results
from observatory.record.saved import Saved, load_all, place_of
from observatory.record.summary import JournalSummary
from observatory.record.triage import Triage


def find(results: Path, moment: Moment) -> tuple[Alerts, list[Problem]]:
    """Everything that alerts in a results directory, and what of it could not be read."""
    read = read_results(results, directory_for(results))
    problems = list(read.problems)
    watched = watched_of([results], read, list(tracked(series_of(read))), problems)
    found = watch(watched, moment, tool_version())
    made_of = fingerprint(read, moment.triage)
    return found.model_copy(update={"made_of": made_of}), problems


def watched_of(
    directories: Sequence[Path], read: Results, tracks: Sequence[Track], problems: list[Problem]
) -> Watched:
    """What is watched, of results that were read; the histories add to ``problems``."""
    saved = heapq.merge(
        *(load_all(directory) for directory in directories), key=lambda one: place_of(one.header)
    )
    return Watched(
        tracks=tracks,
        histories=_histories(saved, problems),
        runs=list(runs_of(read)),
        last_good=max(filter(None, map(_good, read.journals.values())), default=None),
    )


def said_of(results: Path) -> tuple[Triage, list[Problem]]:
    """What people said; a broken file is named, and alarms as if nothing had been said."""
    try:
        return triage.load(results), []
    except RecordError as error:
        reason = f"{error}; until then no acknowledgement counts"
        return Triage(), [Problem(results / triage.FILE, reason)]


def _histories(saved: Iterable[Saved], problems: list[Problem]) -> Iterator[History]:
    """``saved`` comes by machine and environment, and then by date. One at a time, in order."""

    def whole(one: Saved) -> Saved:
        problems.extend(problem for problem in one.problems if problem not in problems)
        return one

    for (machine, env_name), subjects in groupby(saved, lambda one: place_of(one.header)[:2]):
        measured = (whole(one) for one in _each_once(subjects) if one.samples)
        counted = (
            Counted(_at(one), Evidence.of(one.samples), number)
            for number, one in enumerate(measured)
        )
        yield History(machine, env_name, counted)


def _each_once(subjects: Iterable[Saved]) -> Iterator[Saved]:
    """A subject that is in several directories is taken from the first, as its values are."""
    for _, same in groupby(subjects, key=lambda one: one.header.subject.commit):
        yield next(same)


def _at(saved: Saved) -> At:
    subject = saved.header.subject
    return At(label=subject.label[:200], commit=subject.commit, date=subject.date)


def runs_of(read: Results) -> Iterator[Run]:
    """The newest subject of each machine and environment; measured when its journal says.

    Results without a journal say only when the newest subject was made.
    """
    summaries = {
        (one.header.subject.commit, one.header.machine.machine, one.header.subject.env_name): one
        for one in read.journals.values()
        if one.header is not None
    }
    for (machine, env_name), lines in groupby(lines_of(read), lambda o: (o.machine, o.env_name)):
        subjects = [subject for line in lines for subject in line.subjects]
        newest = max(subjects, key=lambda subject: subject.date)
        known = [summaries.get((one.commit, machine, env_name)) for one in subjects]
        moments = [one.measured_at for one in known if one and one.measured_at]
        yield Run(
            machine[:200], env_name[:200], at(newest), max(moments, default=newest.date),
            len(subjects), _failures(summaries.get((newest.commit, machine, env_name))),
        )  # fmt: skip


def _failures(summary: JournalSummary | None) -> dict[str, list[str]]:
    """How samples failed, and in which cells."""
    found: dict[str, list[str]] = defaultdict(list)
    for note in summary.notes if summary else ():
        if note.kind == "failed":
            found[same_words(note.text)].append(str(note.cell))
    return dict(found)


def _good(summary: JournalSummary) -> datetime | None:
    """When a run without a failure was measured; None if it had one."""
    failed = any(note.kind == "failed" for note in summary.notes)
    return None if failed else summary.measured_at
