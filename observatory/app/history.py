"""What is in a results directory, as `observatory.analyze.history.detection` takes it."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path

from observatory.analyze.comparison.evidence import Evidence, same_words
from observatory.analyze.history.alerts import STALE_AFTER, AlertContext, Run
from observatory.analyze.history.detection import Histories, detect_changes
from observatory.analyze.history.exact_changes import CountedSubject, History
from observatory.analyze.history.level_changes import at
from observatory.analyze.history.segments import SegmentedSeries, segmented
from observatory.analyze.history.series import lines_of, series_of
from observatory.analyze.series_keys import SelectionError, place_order
from observatory.app.fingerprint import fingerprint
from observatory.app.version import tool_version
from observatory.store.base.problems import Problem, RecordError
from observatory.store.reading.cache import directory_for
from observatory.store.reading.read import JournalSummary, Results, read_results
from observatory.store.reading.saved import Saved, load_all, place_of
from observatory.store.records import alerts as alerts_record
from observatory.store.records import triage
from observatory.store.records.alerts import Alert, Alerts, At, cut
from observatory.store.records.triage import Triage
from observatory.text.records import alerts_of


@dataclass(frozen=True)
class FoundAlerts:
    """The alerts of a results directory."""

    record: Alerts
    """What alerts.json holds: alerts, what could not be judged, the last good run."""
    problems: tuple[Problem, ...]
    """What could not be read."""

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
) -> FoundAlerts:
    """Find what got worse along the history, and what became of it.

    Args:
        results: A directory of asv results, of this project or of any other.
        stale_after: A machine without a newer sample is an alert itself.
        now: The moment for which states (new, acknowledged, expired, ...) hold; now if None.
        save: Whether to write RESULTS/alerts.json, from which the pages and `ack` take them.

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
    found, problems = find_alerts(directory, moment)
    if save:
        alerts_record.save(directory, found)
    return FoundAlerts(found, (*unread, *problems))


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
        metric: Only series of this metric.
        models: Only these; likewise the next four. Empty: all.
        scenarios: See ``models``; in results of other projects the benchmark.
        backends: See ``models``.
        launches: Start methods; see ``models``.
        machines: See ``models``.

    Returns:
        The series in the order of the vocabulary. ``series.values`` are in ``series.place.unit``,
        one for each subject ``series.subject(i)``; ``bounds`` are where levels begin, and
        ``levels`` their medians.

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
        known = sorted({one.place.metric for one in there})
        raise SelectionError(
            f"no series of {metric!r} matches; there are series of {', '.join(known) or 'nothing'}"
        )
    return sorted(segmented(found), key=lambda track: place_order(track.series.place))


def find_alerts(results: Path, moment: AlertContext) -> tuple[Alerts, list[Problem]]:
    """Everything that alerts in a results directory, and what of it could not be read."""
    read = read_results(results, directory_for(results))
    problems = list(read.problems)
    watched = watched_of([results], read, list(segmented(series_of(read))), problems)
    found = detect_changes(watched, moment)
    return alerts_of(found, tool_version(), fingerprint(read, moment.triage)), problems


def watched_of(
    directories: Sequence[Path],
    read: Results,
    tracks: Sequence[SegmentedSeries],
    problems: list[Problem],
) -> Histories:
    """What is watched, of results that were read; the histories add to ``problems``."""
    saved = heapq.merge(
        *(load_all(directory) for directory in directories), key=lambda one: place_of(one.header)
    )
    return Histories(
        tracks=tracks,
        histories=_histories(saved, problems),
        runs=list(runs_of(read)),
        last_good=max(filter(None, map(_good, read.journals.values())), default=None),
    )


def acknowledgements_of(results: Path) -> tuple[Triage, list[Problem]]:
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
            CountedSubject(_at(one), Evidence.of(one.samples), number)
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
            cut(machine), cut(env_name), at(newest), max(moments, default=newest.date),
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
