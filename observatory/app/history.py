"""Alerts and series of a results directory."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import TypeVar

from observatory import tool_version
from observatory.analyze.comparison.comparing import Who, who_of
from observatory.analyze.comparison.evidence import Evidence, same_words
from observatory.analyze.history.alerts import STALE_AFTER, AlertContext, Run
from observatory.analyze.history.detection import Histories, detect_changes
from observatory.analyze.history.faults import fault_changes
from observatory.analyze.history.followed import CountedSubject, History
from observatory.analyze.history.level_changes import alerted_steps, at
from observatory.analyze.history.machine_floors import MachineFloors
from observatory.analyze.history.segments import SegmentedSeries, segmented
from observatory.analyze.history.series import lines_of, series_of
from observatory.analyze.history.standing import retired_alerts
from observatory.analyze.history.wrong_counts import wrong_counts
from observatory.analyze.series_keys import place_order
from observatory.app.fingerprints import fingerprint
from observatory.app.kept_levels import tracks_of
from observatory.app.progress import Progress, doing, silent
from observatory.benchmarks.catalogue import no_such
from observatory.errors import SelectionError
from observatory.store.base.problems import Problem, RecordError
from observatory.store.reading.beside import problem_of, problems_beside
from observatory.store.reading.cache import directory_for
from observatory.store.reading.read import Results, read_results
from observatory.store.reading.saved import Saved, load_all, place_of, read_saved
from observatory.store.reading.summaries import JournalSummary
from observatory.store.records import alerts as alerts_record
from observatory.store.records import calibration, layout, torture, triage
from observatory.store.records.alerts import Alert, Alerts, At, cut
from observatory.store.records.sample import Sample
from observatory.store.records.triage import Triage
from observatory.text.records import alerts_of

_Record = TypeVar("_Record")


@dataclass(frozen=True)
class FoundAlerts:
    """The alerts of a results directory."""

    record: Alerts
    """The content of alerts.json: alerts, what could not be judged, and the last good run."""
    problems: tuple[Problem, ...]
    """What could not be read or written."""
    saved: bool
    """Whether RESULTS/alerts.json was written."""

    def __iter__(self) -> Iterator[Alert]:
        return iter(self.record.alerts)

    def __len__(self) -> int:
        return len(self.record.alerts)


def alerts(
    results: Path | str = "results",
    *,
    stale_after: timedelta = STALE_AFTER,
    now: datetime | None = None,
    save: bool = False,
    progress: Progress = silent,
) -> FoundAlerts:
    """Find what got worse along the history.

    Args:
        results: A directory of asv results, of this project or of any other.
        stale_after: Age of a machine's newest sample from which it is an alert itself.
        now: The time at which the states (new, acknowledged, expired, ...) hold; now if None.
        save: Whether to write RESULTS/alerts.json, which the pages and `ack` read.
        progress: A function that is called with every update, e.g. ``print``.

    Returns:
        The alerts, each with its cause, its state, and the last good and the first bad subject.
        Iterating gives `observatory.store.records.alerts.Alert` objects.

    Raises:
        RecordError: There is no such directory, or alerts.json is broken.

    """
    directory = Path(results)
    acknowledged, unread = acknowledgements_of(directory)
    before = alerts_record.load(directory)
    moment = AlertContext(now or datetime.now(UTC), stale_after, acknowledged, before)
    found, problems = find_alerts(directory, moment, progress)
    if save:
        try:
            alerts_record.save(directory, found)
        except OSError as error:
            reason = f"it cannot be written ({error.strerror}), so no alert is remembered"
            problems.append(Problem(directory / alerts_record.FILE, reason))
            save = False
    named = {problem.path for problem in (*unread, *problems)}
    others = [one for one in problems_beside(directory) if one.path not in named]
    return FoundAlerts(found, (*unread, *problems, *others), saved=save)


def series(
    results: Path | str = "results",
    *,
    metric: str = "compile_time",
    models: Sequence[str] = (),
    scenarios: Sequence[str] = (),
    backends: Sequence[str] = (),
    launches: Sequence[str] = (),
    machines: Sequence[str] = (),
) -> list[SegmentedSeries]:
    """Series along the history, each cut into levels.

    Args:
        results: A directory of asv results, of this project or of any other.
        metric: The metric.
        models: Only these models; if empty, all. The next four limit other words.
        scenarios: See ``models``. In results of other projects, a scenario is a benchmark.
        backends: See ``models``.
        launches: Start methods; see ``models``.
        machines: See ``models``.

    Returns:
        The series in the order of the vocabulary. ``series.values`` has a value for each subject
        ``series.subject(i)``, in ``series.place.unit``. Levels begin at ``bounds``; ``levels`` are
        their medians.

    Raises:
        RecordError: There is no such directory.
        SelectionError: No series matches.

    """
    directory = Path(results)
    wanted = {"model": models, "scenario": scenarios, "backend": backends, "launch": launches}
    there = series_of(read_results(directory, directory_for(directory)))
    found = [
        one
        for one in there
        if one.place.metric == metric
        and all(not words or getattr(one.place, key) in words for key, words in wanted.items())
        and (not machines or one.line.machine in machines)
    ]
    if not found:
        metrics = sorted({one.place.metric for one in there})
        if metric not in metrics:
            raise SelectionError(no_such("metric", metric, metrics))
        raise SelectionError(f"no series of {metric!r} matches the other options; drop one")
    return sorted(segmented(found, among=there), key=lambda track: place_order(track.series.place))


def find_alerts(
    results: Path, moment: AlertContext, progress: Progress = silent
) -> tuple[Alerts, list[Problem]]:
    """The alerts of a results directory, and what of it could not be read."""
    with doing(progress, f"reading {results}"):
        read = read_results(results, directory_for(results))
    problems = list(read.problems)
    with doing(progress, "looking for steps and their causes"):
        steps = alerted_steps(moment.previous)
        learned = loaded(calibration.load_all, [results], problems)
        floors = MachineFloors(learned)
        tracks = tracks_of([results], series_of(read), steps, floors)
        watched = watched_of([results], read, tracks, problems, floors)
        found = detect_changes(watched, moment)
    faults = loaded(torture.load_all, [results], [])
    made_of = fingerprint(read, moment.triage, faults, learned)
    retired = retired_alerts((one.alert for one in found.alerts), tracks)
    return alerts_of(found, tool_version(), made_of, wrong_counts(tracks), retired), problems


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
    return Histories(
        tracks=tracks,
        histories=_histories(saved, problems),
        runs=list(runs_of(read)),
        last_good=max(filter(None, map(_good, read.journals.values())), default=None),
        samples=_samples_of(read),
        faults=list(fault_changes(loaded(torture.load_all, directories, problems))),
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
                problems.append(problem_of(one, directory, layout.TORTURE))
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


def acknowledgements_of(results: Path) -> tuple[Triage, list[Problem]]:
    """The acknowledgements; none, and a problem, if their file is broken."""
    try:
        return triage.load(results), []
    except RecordError as error:
        broken = problem_of(error, results, triage.FILE)
        reason = f"{broken.reason}; until then no acknowledgement counts"
        return Triage(), [replace(broken, reason=reason)]


def _histories(saved: Iterable[Saved], problems: list[Problem]) -> Iterator[History]:
    """A history for each machine and environment; ``saved`` is sorted by them, then by date."""

    def whole(one: Saved) -> Saved:
        problems.extend(problem for problem in one.problems if problem not in problems)
        return one

    for (machine, env_name), subjects in groupby(saved, lambda one: place_of(one.header)[:2]):
        measured = (whole(one) for one in _each_once(subjects) if one.samples)
        counted = (
            CountedSubject(_at(one), Evidence.of(one.samples), number, one.header.machine.cpu)
            for number, one in enumerate(measured)
        )
        yield History(machine, env_name, counted)


def _each_once(subjects: Iterable[Saved]) -> Iterator[Saved]:
    """Take a subject that is in several directories from the first, as its values are."""
    for _, same in groupby(subjects, key=lambda one: one.header.subject.commit):
        yield next(same)


def _at(saved: Saved) -> At:
    subject = saved.header.subject
    return At(label=subject.label[:200], commit=subject.commit, date=subject.date)


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
            cut(machine), cut(env_name), at(newest), max(moments, default=newest.date),
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
