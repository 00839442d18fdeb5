"""What the pages show of results directories: read, judged and drawn."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from itertools import groupby
from pathlib import Path

from observatory import tool_version
from observatory.analyze.comparison.comparing import Who, who_of
from observatory.analyze.history.alerts import STALE_AFTER, AlertContext
from observatory.analyze.history.detection import detect_changes
from observatory.analyze.history.level_changes import alerted_steps
from observatory.analyze.history.machine_changes import changes_of_alerts, machine_changes
from observatory.analyze.history.machine_floors import MachineFloors
from observatory.analyze.history.segments import SegmentedSeries
from observatory.analyze.history.series import series_of
from observatory.analyze.history.standing import retired_alerts
from observatory.analyze.history.wrong_counts import wrong_counts
from observatory.analyze.profiles.cells import CellProfile, cell_profiles
from observatory.analyze.sentinel import looks
from observatory.analyze.series_keys import place_order
from observatory.app.histories import loaded, made_of, watched_of
from observatory.app.history import acknowledgements_of
from observatory.app.kept_levels import tracks_of
from observatory.app.pairs import finished_pairs
from observatory.app.progress import Progress, doing, silent
from observatory.app.source import OWN, Source
from observatory.app.suspected import suspected_ranges
from observatory.benchmarks.catalogue import Cell
from observatory.dashboard.kept import Kept
from observatory.dashboard.site import build
from observatory.dashboard.site_input import SiteInput
from observatory.store.base.problems import Problem, RecordError
from observatory.store.journal.latest import Note
from observatory.store.reading.beside import problem_of, problems_beside
from observatory.store.reading.cache import directory_for
from observatory.store.reading.compiled import KEPT_FUNCTIONS, Functions
from observatory.store.reading.fates import KEPT_FATES, Coverage, Fates
from observatory.store.reading.growing import Growing
from observatory.store.reading.read import Results, read_results, united
from observatory.store.reading.saved import read_saved
from observatory.store.reading.walks import Walks
from observatory.store.records import alerts as alerts_record
from observatory.store.records import (
    calibration,
    crossings,
    searches,
    sentinels,
    settings,
    torture,
    upgrades,
)
from observatory.store.records import contracts as contracts_record
from observatory.store.records.alerts import Alerts
from observatory.store.records.calibration import Calibration
from observatory.store.records.found import Found
from observatory.store.records.triage import Triage
from observatory.text.records import alerts_of

_PROFILED = 8
"""Subjects whose profiles are kept in memory."""
_Place = tuple[str, str, str]
"""Machine, environment and commit."""


@dataclass(frozen=True)
class _OfJournals:
    """What the journals of results say beside the values of series."""

    functions: dict[_Place, Functions] = field(default_factory=dict)
    fates: dict[_Place, Fates] = field(default_factory=dict)
    coverage: dict[_Place, Coverage] = field(default_factory=dict)
    walks: dict[_Place, Walks] = field(default_factory=dict)
    growth: dict[_Place, Growing] = field(default_factory=dict)
    notes: dict[tuple[str, str], list[Note]] = field(default_factory=lambda: defaultdict(list))
    """By machine and environment."""
    measured_at: dict[tuple[str, str], datetime] = field(default_factory=dict)
    """When the newest sample was taken, by subject and machine."""


def site_data(
    directories: Sequence[Path], machine: str | None = None, progress: Progress = silent
) -> tuple[SiteInput, list[Problem]]:
    """The input of the site, and what could not be read.

    Alerts are those of RESULTS/alerts.json if it was made from exactly these results by this code.
    Otherwise, and for several directories, they are found as of the newest sample, so that the site
    does not depend on when it is built. Raises RecordError if a directory does not exist.
    """
    with doing(progress, f"reading {' and '.join(map(str, directories))}"):
        read = united([read_results(one, directory_for(one)) for one in directories])
    problems = list(read.problems)
    previous = _previous(directories, problems)
    with doing(progress, "looking for steps and their causes"):
        calibrations = loaded(calibration.load_all, directories, problems)
        floors = MachineFloors(calibrations)
        tracks = tracks_of(directories, series_of(read), alerted_steps(previous), floors)
        alerts = _alerts(directories, read, tracks, previous, calibrations, problems)
    # A line at a time: the words by which all of them are sorted would be much memory.
    by_line = [list(own) for _, own in groupby(tracks, key=lambda track: id(track.series.line))]
    tracks = [
        track for own in by_line for track in sorted(own, key=lambda t: place_order(t.series.place))
    ]
    told = _of_journals(read, problems)
    contracts = loaded(contracts_record.load_all, directories, problems)
    made = loaded(upgrades.load_all, directories, problems)
    searched = Found(
        loaded(searches.load_all, directories, problems),
        loaded(crossings.load_all, directories, problems),
    )
    nights = looks(loaded(sentinels.load_all, directories, problems))
    changes = machine_changes(track.series for track in tracks)
    with doing(progress, "comparing subjects"):
        pairs = finished_pairs(directories[0], read, alerts, calibrations, changes)
    journals = {
        who_of(one.header): path for path, one in read.journals.items() if one.header is not None
    }

    @lru_cache(maxsize=_PROFILED)
    def profiles(who: Who) -> Mapping[Cell, CellProfile]:
        saved = read_saved(journals[who], ledgers=False) if who in journals else None
        return {} if saved is None else cell_profiles(saved.samples)

    named = {one.path for one in problems}
    for directory in directories:  # pages do not show every kind of record
        problems += [one for one in problems_beside(directory) if one.path not in named]
    observed = SiteInput(
        tracks, read.files, alerts, tool_version(),
        problems=[str(problem) for problem in problems],
        notes=told.notes, measured_at=told.measured_at, functions=told.functions,
        fates=told.fates, coverage=told.coverage, walks=told.walks, growth=told.growth,
        calibrations=calibrations, contracts=contracts,
        faults=loaded(torture.load_all, directories, []), upgrades=made,
        settings=loaded(settings.load_all, directories, []),
        found=searched, looks=nights,
        machine=machine, pairs=pairs, profiles=profiles,
        machine_changes=changes, machine_of=changes_of_alerts(alerts, tracks, changes),
    )  # fmt: skip
    return observed, problems


def _of_journals(read: Results, problems: list[Problem]) -> _OfJournals:
    """Read them; of several journals of one place, the first counts."""
    told = _OfJournals()
    for path, journal in read.journals.items():
        if (header := journal.header) is None:
            continue
        machine, environment = header.machine.machine, header.subject.env_name
        place = machine, environment, header.subject.commit
        told.notes[machine, environment] += journal.notes
        functions = KEPT_FUNCTIONS.of_journal(path, journal.functions, problems)
        fates = KEPT_FATES.of_journal(path, journal.fates, problems)
        told.functions.setdefault(place, functions)
        told.fates.setdefault(place, fates)
        told.coverage.setdefault(place, journal.coverage)
        told.walks.setdefault(place, journal.walks)
        told.growth.setdefault(place, journal.growth)
        if journal.measured_at is not None:
            of_subject = header.subject.label, machine
            before = told.measured_at.get(of_subject, journal.measured_at)
            told.measured_at[of_subject] = max(journal.measured_at, before)
    return told


def drawn(
    directories: Sequence[Path],
    out: Path,
    source: Source,
    machine: str | None,
    progress: Progress,
    url: str,
    kept: Kept | None = None,
) -> tuple[Path, list[Problem]]:
    """Build the site; parameters, result and errors are those of `observatory.app.site`.

    ``kept``: what an earlier build left.
    """
    forge = source.forge(directories[0])
    observed, problems = site_data(directories, machine, progress)
    ours = any(track.series.place.model for track in observed.tracks)
    if ours and not forge.name and not forge.repository:
        forge = source.forge(OWN)
    with doing(progress, "looking for commits"):
        observed = replace(observed, ranges=suspected_ranges(source.clone, observed.alerts))
    with doing(progress, f"drawing the pages of {len(observed.tracks):,} series"):
        return build(observed, out, forge, url, kept).resolve(), problems


def _previous(directories: Sequence[Path], problems: list[Problem]) -> Alerts | None:
    """The alerts that were found last; None for several directories, or of a broken file."""
    if len(directories) != 1:
        return None
    try:
        return alerts_record.load(directories[0])
    except RecordError as error:
        problems.append(problem_of(error, directories[0], alerts_record.FILE))
        return None


def _alerts(
    directories: Sequence[Path],
    read: Results,
    tracks: Sequence[SegmentedSeries],
    previous: Alerts | None,
    calibrations: Sequence[Calibration],
    problems: list[Problem],
) -> Alerts:
    triage = Triage()
    for one in directories:
        found, unread = acknowledgements_of(one)
        triage.acknowledged.extend(found.acknowledged)
        problems += unread
    # One of an older version of this tool may lack what pages need.
    whole = previous is not None and None not in (previous.wrong, previous.retired)
    made = made_of(directories, read, triage, calibrations) if whole else ""
    if previous is not None and made and previous.made_of == made:
        return previous
    watched = watched_of(directories, read, tracks, problems, MachineFloors(calibrations))
    # Without runs, there are only changes that no series shows, as of records of settings.
    runs = [run.measured_at for run in watched.runs]
    subjects = [one.change.first_bad.date for one in watched.without_series]
    now = max(runs or subjects, default=datetime.fromtimestamp(0, UTC))
    detected = detect_changes(watched, AlertContext(now, STALE_AFTER, triage, previous))
    retired = retired_alerts((one.alert for one in detected.alerts), tracks)
    return alerts_of(detected, tool_version(), wrong=wrong_counts(tracks), retired=retired)
