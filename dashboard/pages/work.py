"""Work beside time: what builds and calls execute, along the releases and of the newest subject."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from observatory.analyze.comparison.rules import rule_of
from observatory.analyze.history.segments import SegmentedSeries
from observatory.benchmarks.catalogue import (
    LAUNCHES,
    MAIN_BACKENDS,
    METRICS,
    OF_WORK,
    SCENARIOS,
    Cell,
)
from observatory.dashboard.colours import css_name
from observatory.dashboard.drawing.panels import ChartLine, Panel, Point, Table
from observatory.dashboard.pages.cell_values import CellValue
from observatory.dashboard.pages.newest_value import NewestChange, State, amount
from observatory.dashboard.pages.summary import Newest
from observatory.dashboard.site_input import SiteInput
from observatory.store.records.comparison import Conclusion
from observatory.text import units
from observatory.text.counting import counted_by, leaves_out_compiler, not_followed
from observatory.text.plain import clean, shorten
from observatory.text.words import first_of, known_first

WORK = tuple(sorted(OF_WORK, key=lambda name: METRICS[name].measure != "work"))
"""The metrics of work: instructions first."""
_INSTRUCTIONS = WORK[0]
_TIMED = tuple(name for name, one in SCENARIOS.items() if one.timed)
_STATES: dict[Conclusion, State] = {"worse": "bad", "better": "good"}
_SMALLEST = units.percent(max(rule_of(METRICS[name], _TIMED[0]).sure() - 1 for name in WORK))
_NAMED = 3


@dataclass(frozen=True)
class WorkView:
    """The newest work of one cell, in a few words."""

    value: str
    change: NewestChange
    title: str


@dataclass(frozen=True)
class WorkHistory:
    """Work along the releases: charts, and sentences on the newest subject."""

    panels: tuple[Panel, ...]
    in_words: tuple[str, ...]
    smallest: str
    """The change from which each metric counts, with one count of each subject."""


def newest_work(observed: SiteInput, subject: Newest) -> dict[Cell, WorkView]:
    """The instructions of the newest subject, by cell, each against the value before it."""
    return {
        track.series.place.cell: WorkView(
            units.brief(track.series.values[-1], track.series.place.unit),
            _change(observed, track),
            f"{units.count(track.series.values[-1])} instructions, "
            f"{clean(counted_by(track.series.place.cell, track.series.source))}",
        )
        for track in _newest_tracks(observed, subject)
        if track.series.place.metric == _INSTRUCTIONS
    }


def work_history(
    observed: SiteInput, subject: Newest, own: Sequence[CellValue], releases: tuple[str, ...]
) -> WorkHistory:
    """The work of one model in the setting of the newest subject.

    ``own``: the values of its line, in the order of the history.
    """
    panels = tuple(
        panel
        for metric in WORK
        for scenario in _TIMED
        if not (panel := _panel(metric, scenario, own, releases)).empty
    )
    words = (*_verdicts(observed, subject), *_sources(own))
    return WorkHistory(panels, words, _SMALLEST)


def _panel(
    metric: str, scenario: str, own: Iterable[CellValue], releases: tuple[str, ...]
) -> Panel:
    here = [one for one in own if one.metric == metric and one.cell.scenario == scenario]
    launches = known_first((one.cell.launch for one in here), LAUNCHES)
    counts = [one.cell.launch for one in here]
    launch = max(launches, key=counts.count, default="")
    found = {(o.subject, o.cell.backend): o for o in here if o.cell.launch == launch}
    unit = METRICS[metric].unit
    lines = tuple(
        ChartLine(backend, css_name(backend), tuple(_points(backend, releases, found)))
        for backend in MAIN_BACKENDS
    )
    rows = tuple(
        (release, *(line.points[place].entry or "not counted" for line in lines))
        for place, release in enumerate(releases)
    )
    caption = f"{metric}, {scenario}, start method {launch}: by release"
    table = Table(caption, ("release", *MAIN_BACKENDS), rows)
    title = f"{scenario}: {metric}"
    meaning = SCENARIOS[scenario].meaning
    slug = f"work-{metric}-{scenario}"
    return Panel(slug, scenario, title, meaning, releases, lines, table, unit)


def _points(
    backend: str, releases: Iterable[str], found: dict[tuple[str, str], CellValue]
) -> Iterator[Point]:
    source: str | None = None
    for release in releases:
        one = found.get((release, backend))
        if one is None or one.value is None:
            yield Point(None, None, None, f"{release}, {backend}: not counted")
            continue
        entry = units.count(one.value)
        apart = source not in (None, one.source)
        source = one.source
        yield Point(
            one.value, None, None, f"{release}, {backend}: {entry}", entry=entry, apart=apart
        )


def _newest_tracks(observed: SiteInput, subject: Newest) -> Iterator[SegmentedSeries]:
    """The series of work whose newest value is the newest subject's, in its setting."""
    for track in observed.tracks:
        series = track.series
        last = series.subject(len(series.values) - 1)
        if (
            series.place.model
            and series.place.metric in WORK
            and subject.setting.is_of(series.line)
            and last.label == subject.subject
        ):
            yield track


def _change(observed: SiteInput, track: SegmentedSeries) -> NewestChange:
    """The newest value against the one before it, with the state of its verdict."""
    values = track.series.values
    if len(values) < 2:
        return NewestChange("quiet", "first value")
    last = observed.verdicts_on(track).last
    if last == "unaffected":
        return NewestChange("quiet", "unchanged")
    before, after = values[-2:].tolist()
    return NewestChange(_STATES.get(last, "quiet"), amount(track, before, after))


def _verdicts(observed: SiteInput, subject: Newest) -> Iterator[str]:
    """The newest subject against the last one with a value, a sentence for each direction."""
    label = shorten(subject.subject, 60)
    tracks = list(_newest_tracks(observed, subject))
    if not any(track.series.place.metric == _INSTRUCTIONS for track in tracks):
        why = _why_uncounted(observed, subject)
        yield f"No instructions were counted for {label}{f': {why}' if why else ''}."
    judged = [track for track in tracks if len(track.series.values) > 1]
    for conclusion, word in (("worse", "more"), ("better", "less")):
        names: dict[tuple[str, ...], str] = {}
        for track in sorted(judged, key=_weight):
            if observed.verdicts_on(track).last == conclusion:
                place = track.series.place
                words = place.scenario, place.backend, place.metric
                size = _change(observed, track).words.partition(": ")[2]
                names.setdefault(words, f"{' '.join(words)} ({size})")  # of its start methods
        if names:
            before = "the subject before it that was counted"
            yield f"{label} does {word} work than {before}: {_first(names.values())}."
    conclusions = [observed.verdicts_on(track).last for track in judged]
    if set(conclusions) & {"unaffected", "workload changed"}:
        other = "other " if set(conclusions) & _STATES.keys() else ""
        yield f"No {other}count of its work got worse or better."


def _first(names: Iterable[str]) -> str:
    return first_of(list(names), _NAMED)


def _weight(track: SegmentedSeries) -> tuple[int, float]:
    """A sort key: instructions first, then the largest change."""
    before, after = track.series.values[-2:].tolist()
    size = max(before, after) / min(before, after) if min(before, after) > 0 else 0.0
    return WORK.index(track.series.place.metric), -size


def _why_uncounted(observed: SiteInput, subject: Newest) -> str:
    """The reason that the newest subject's samples of work give, if they give one."""
    notes = observed.notes.get((subject.setting.machine, subject.setting.env_name), ())
    own = (
        note.text
        for note in notes
        if note.subject == subject.subject
        and (note.measure == "work" or note.metric == _INSTRUCTIONS)
    )
    return shorten(next(own, ""), 300).rstrip(".")


def _sources(own: Iterable[CellValue]) -> Iterator[str]:
    """What counted the instructions, and where another source began."""
    counted = [one for one in own if one.metric == _INSTRUCTIONS and one.source]
    found = list(dict.fromkeys(str(one.source) for one in counted))
    if found:
        yield f"Instructions were counted by {clean('; and by '.join(found))}."
    if len(found) > 1:
        yield "Counts of two sources are not compared: the lines break where the source changes."
    if without := {
        one.cell.backend
        for one in counted
        if leaves_out_compiler(one.cell.scenario, one.cell.backend, one.source)
    }:
        yield f"{not_followed(without)}."
