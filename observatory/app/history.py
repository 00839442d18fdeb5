"""Alerts and series of a results directory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from observatory import tool_version
from observatory.analyze.history.alerts import STALE_AFTER, AlertContext
from observatory.analyze.history.detection import detect_changes
from observatory.analyze.history.level_changes import alerted_steps
from observatory.analyze.history.machine_floors import MachineFloors
from observatory.analyze.history.segments import SegmentedSeries, segmented
from observatory.analyze.history.series import series_of
from observatory.analyze.history.standing import retired_alerts
from observatory.analyze.history.wrong_counts import wrong_counts
from observatory.analyze.series_keys import place_order
from observatory.app.histories import loaded, made_of, watched_of
from observatory.app.kept_levels import tracks_of
from observatory.app.progress import Progress, doing, silent
from observatory.benchmarks.catalogue import no_such
from observatory.errors import SelectionError
from observatory.store.base.problems import Problem, RecordError
from observatory.store.reading.beside import problem_of, problems_beside
from observatory.store.reading.cache import directory_for
from observatory.store.reading.read import Results, read_results
from observatory.store.records import alerts as alerts_record
from observatory.store.records import calibration, triage
from observatory.store.records.alerts import Alert, Alerts
from observatory.store.records.triage import Triage
from observatory.text.records import alerts_of


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
        return alerts_in(results, read, moment, problems), problems


def alerts_in(
    results: Path, read: Results, moment: AlertContext, problems: list[Problem]
) -> Alerts:
    """The alerts of results that were read; what cannot be read beside them is added."""
    learned = loaded(calibration.load_all, [results], problems)
    floors = MachineFloors(learned)
    tracks = tracks_of([results], series_of(read), alerted_steps(moment.previous), floors)
    watched = watched_of([results], read, tracks, problems, floors)
    found = detect_changes(watched, moment)
    fingerprint = made_of([results], read, moment.triage, learned)
    retired = retired_alerts((one.alert for one in found.alerts), tracks)
    return alerts_of(found, tool_version(), fingerprint, wrong_counts(tracks), retired)


def acknowledgements_of(results: Path) -> tuple[Triage, list[Problem]]:
    """The acknowledgements; none, and a problem, if their file is broken."""
    try:
        return triage.load(results), []
    except RecordError as error:
        broken = problem_of(error, results, triage.FILE)
        reason = f"{broken.reason}; until then no acknowledgement counts"
        return Triage(), [replace(broken, reason=reason)]
