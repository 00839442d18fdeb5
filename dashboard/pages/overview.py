"""The first page: what a maintainer sees in ten seconds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from observatory.analyze.history.recorded import FEWEST_FOR_A_HABIT
from observatory.analyze.history.series import Subject
from observatory.analyze.history.standing import Light, Standing, standing
from observatory.benchmarks.catalogue import (
    LAUNCHES,
    MAIN_BACKENDS,
    MATRIX_SCENARIOS,
    MODELS,
    SCENARIOS,
    WARM_SCENARIOS,
    Cell,
    headline_time,
)
from observatory.dashboard.colours import colour_of, css_name
from observatory.dashboard.drawing.series import Spark, spark
from observatory.dashboard.pages.caches import chosen
from observatory.dashboard.pages.caches import path_of as caches_path
from observatory.dashboard.pages.cell_values import CellValue, Flag, unasked
from observatory.dashboard.pages.newest_value import NewestChange, newest_change
from observatory.dashboard.pages.summary import Headline, Newest
from observatory.dashboard.pages.work import WorkView, newest_work
from observatory.dashboard.site_input import SiteInput, Spot, spot_name
from observatory.store.reading.compiled import Function
from observatory.store.records.alerts import Alert
from observatory.store.records.found import NOTHING, Found
from observatory.text import units
from observatory.text.alerts import between, with_page
from observatory.text.culprits import headline
from observatory.text.document import spoken
from observatory.text.plain import begun, clean, shorten
from observatory.text.standing import news, of_the_machine, status, waiting
from observatory.text.titles import title_of
from observatory.text.words import first_of, known_first, listed, several

SHOWN_ALERTS = 8
SHOWN_NEWS = 4
_SENTENCE = 130
_NEWS = 150
_LABELS = 2
_WORSE, _BETTER, _EVENT = ("✗", "bad"), ("✓", "good"), ("!", "unknown")
"""The mark and the style of a change for the worse, of one for the better, and of an event."""
TIMED = tuple(name for name in MATRIX_SCENARIOS if SCENARIOS[name].family != "siblings")


@dataclass(frozen=True)
class Tile:
    """One cell of the matrix: its time, how it stands, and where to look closer."""

    value: str
    change: NewestChange | None
    spark: Spark | None
    css: str
    link: str
    title: str
    work: WorkView | None = None


@dataclass(frozen=True)
class TileRow:
    """One backend under one launch."""

    backend: str
    launch: str
    css: str
    first: bool
    tiles: tuple[Tile | None, ...]


@dataclass(frozen=True)
class Strip:
    """The warm caches of one backend in one scenario."""

    scenario: str
    backend: str
    css: str
    counts: tuple[tuple[str, Flag, str], ...]
    """The launches that counted the same, what they missed, and how many functions they hit.

    The last is empty where nothing was counted function by function.
    """
    link: str


@dataclass(frozen=True)
class News:
    """One thing that changed with the newest subject of a machine."""

    mark: str
    css: str
    kind: str
    span: str
    sentence: str
    link: str


@dataclass(frozen=True)
class Overview:
    """The first screen of the page."""

    state: Light
    status: str
    sentence: str
    """What is new, the state of the newest subject, and what waits for a decision."""
    measured: str
    """Which machine and environment the statement is of."""
    last_good: datetime | None
    of_machines: int
    """How many machines the last good run may be of."""
    newest: datetime | None
    recorded: bool
    """Whether it is known when samples were taken, and which runs failed."""
    changed: str
    """The newest subject that changed something: the title of the news."""
    news: tuple[News, ...]
    more_news: int
    alerts: list[dict[str, Any]]
    more_alerts: int
    stale: int
    """The number of machines and environments that send no new results."""
    scenarios: tuple[str, ...]
    rows: tuple[TileRow, ...]
    strips: tuple[Strip, ...]
    safety: tuple[Flag, ...]

    @property
    def has_work(self) -> bool:
        """Whether instructions stand beside a time."""
        return any(tile and tile.work for row in self.rows for tile in row.tiles)


def overview(observed: SiteInput, subject: Newest | None, claim: Headline | None) -> Overview:
    """Fill the first screen. ``subject`` is None if there are no PyTensor cells."""
    found = observed.alerts
    now = standing(found)
    rows = tuple(_rows(observed, subject)) if subject else ()
    habits = _habits(observed)
    changed, told = _news(observed, now)
    return Overview(
        state=now.light,
        status=status(now, 0 < habits <= len(now.late)),
        sentence=" ".join(filter(None, (news(now), _claim(subject, claim, now), waiting(now)))),
        measured=str(subject.setting) if subject else "",
        last_good=found.last_good,
        of_machines=len({line.machine for line in observed.lines}),
        newest=found.newest,
        recorded=bool(observed.measured_at),
        changed=changed if told or found.judged or found.compared else "",
        news=told[:SHOWN_NEWS],
        more_news=max(0, len(told) - SHOWN_NEWS),
        alerts=[alert_line(one, observed.found) for one in now.shown[:SHOWN_ALERTS]],
        more_alerts=max(0, len(now.shown) - SHOWN_ALERTS),
        stale=len(now.late),
        scenarios=TIMED if rows else (),
        rows=rows,
        strips=tuple(_strips(observed, subject)) if subject else (),
        safety=(
            _none_of(subject, "wrong_results", "wrong results", "wrong result: not checked"),
            _none_of(subject, "crashed", "crashes", "crash: not watched"),
        )
        if subject
        else (),
    )


def alert_line(alert: Alert, found: Found = NOTHING) -> dict[str, Any]:
    """An alert in two or three lines, as lists show it; ``found``: what searches found."""
    return {
        "state": alert.state, "kind": title_of(alert.kind),
        "sentence": begun(alert.sentence, _SENTENCE), "range": between(alert),
        "since": f"since {shorten(alert.first_bad.label, 24)}",
        "culprit": spoken(headline(found.of_change(alert))), "seen": alert.first_seen,
        "resolution": clean(alert.resolution or ""),
        "link": f"alerts/{alert.id}.html",
    }  # fmt: skip


def _claim(subject: Newest | None, claim: Headline | None, now: Standing) -> str:
    """The state of the newest subject; what is wrong and has an alert is said in short."""
    if claim is None or subject is None:
        return "" if now.light != "unknown" else "Nothing could be judged yet."
    return claim.sentences(short=not now.untold)


def _news(observed: SiteInput, now: Standing) -> tuple[str, tuple[News, ...]]:
    """New alerts, and what changed with the newest subject of each machine and environment."""
    newest: dict[tuple[str, str], Subject] = {}
    for line in observed.lines:
        last = newest.setdefault(line.key, line.subjects[-1])
        newest[line.key] = max(last, line.subjects[-1], key=lambda one: one.date)
    pages = {one.id for one in with_page(observed.alerts)}
    first = {one.id: one for one in (*now.failed, *now.new)}
    others = [
        one for one in (*observed.alerts.alerts, *observed.alerts.improvements)
        if one.id not in first and not (isinstance(one, Alert) and one.state == "resolved")
        and any(
            newest[where].commit == one.first_bad.commit
            for where in {(s.machine, s.env_name) for s in one.series} & newest.keys()
        )
    ]  # fmt: skip
    told = tuple(
        News(*_EVENT if one in now.events else _WORSE if isinstance(one, Alert) else _BETTER,
             title_of(one.kind), between(one),
             begun(one.sentence, _NEWS), f"alerts/{one.id}.html" if one.id in pages else "")
        for one in (*first.values(), *others)
    )  # fmt: skip
    labels = list(dict.fromkeys(shorten(one.label, 30) for one in newest.values()))
    return first_of(labels, _LABELS), (*_machines(observed, newest), *told)


def _machines(observed: SiteInput, newest: Mapping[tuple[str, str], Subject]) -> Iterator[News]:
    """The machines that are likely to have changed with their newest subject."""
    for one in observed.machine_changes:
        if newest[one.line.key] == one.at and one.before is not None:
            ends = [spot_name(observed.spots[*one.line.key, at.commit])
                    for at in (one.before, one.at)]  # fmt: skip
            yield News(
                *_EVENT, "machine probably changed",
                f"{clean(one.line.machine)} since {shorten(one.at.label, 30)} "
                f"(before: {shorten(one.before.label, 30)})",
                of_the_machine(one), f"compare.html#a={ends[0]}&b={ends[1]}",
            )  # fmt: skip


def _habits(observed: SiteInput) -> int:
    subjects: Counter[tuple[str, str]] = Counter()
    for line in observed.lines:
        subjects[line.machine, line.env_name] += len(line.subjects)
    return sum(number >= FEWEST_FOR_A_HABIT for number in subjects.values())


def _rows(observed: SiteInput, subject: Newest) -> Iterator[TileRow]:
    times, work = dict(_times(observed, subject)), newest_work(observed, subject)
    model = _first_model(times)
    for backend in MAIN_BACKENDS:
        launches = [
            launch for launch in LAUNCHES
            if any((c.backend, c.launch, c.model) == (backend, launch, model) for c in times)
        ]  # fmt: skip
        for launch in launches:
            cells = [Cell(model, scenario, backend, launch) for scenario in TIMED]
            tiles = tuple(_tile(observed, times.get(c), subject, work.get(c)) for c in cells)
            yield TileRow(backend, launch, css_name(backend), launch == launches[0], tiles)


def _first_model(cells: Iterable[Cell]) -> str:
    """The model that comes first in the catalogue; empty if there is no cell."""
    return next(iter(known_first((cell.model for cell in cells), MODELS)), "")


def _times(observed: SiteInput, subject: Newest) -> Iterator[tuple[Cell, int]]:
    """Cells with the index of their headline time, on the line of the newest subject."""
    for number, track in enumerate(observed.tracks):
        place, line = track.series.place, track.series.line
        if place.scenario not in TIMED or place.metric != headline_time(place.scenario):
            continue
        labels = {one.label for one in line.subjects}
        if subject.setting.is_of(line) and subject.subject in labels:
            yield place.cell, number


def _tile(
    observed: SiteInput, number: int | None, subject: Newest, work: WorkView | None
) -> Tile | None:
    if number is None:
        return None
    track = observed.tracks[number]
    series = track.series
    last = series.subject(len(series.values) - 1)
    link = f"series.html#s={observed.ids[number]}"
    css = f"b-{colour_of(track, observed.ids[number])}"
    if last.label != subject.subject:
        words = f"last in {shorten(last.label, 16)}"
        quiet = NewestChange("quiet", words, "")
        return Tile(units.MISSING, quiet, spark(track), css, link, words, work)
    value = units.human(track.series.values[-1], series.place.unit)
    if len(series.values) == 1 and (recorded := _recorded(observed, number)) is not None:
        other = observed.tracks[recorded]
        theirs = units.human(other.series.values[-1], series.place.unit)
        place = f"{theirs} on {shorten(other.series.line.machine, 16)}"
        return Tile(
            value, NewestChange("quiet", f"first here; {place}", ""), spark(other), css,
            f"{link}&s={observed.ids[recorded]}", f"{series.benchmark}: history of {place}", work,
        )  # fmt: skip
    found = newest_change(observed, track)
    title = f"{series.benchmark} {series.place.metric}"
    return Tile(value, found, spark(track), css, link, title, work)


def _recorded(observed: SiteInput, number: int) -> int | None:
    """The longest series of the same cell and metric elsewhere; None if there is none."""
    own = observed.tracks[number].series
    found = [
        other for other, track in enumerate(observed.tracks)
        if track.series.place == own.place and track.series.line is not own.line
        and len(track.series.values) > 1
    ]  # fmt: skip
    return max(found, key=lambda one: len(observed.tracks[one].series.values), default=None)


def _strips(observed: SiteInput, subject: Newest) -> Iterator[Strip]:
    misses, refused = subject.of("cache_misses"), subject.of("uncacheable")
    compiled = subject.of("functions_compiled")
    spot = spot_of(observed, subject)
    functions = observed.functions_at.get(spot, {}) if spot else {}
    link = caches_path(spot) if spot in chosen(observed) else ""
    model = _first_model(cell for cell in misses if cell.scenario in WARM_SCENARIOS)
    for scenario in WARM_SCENARIOS:
        for backend in MAIN_BACKENDS:
            cells = [
                cell for cell in sorted(misses)
                if (cell.scenario, cell.backend, cell.model) == (scenario, backend, model)
            ]  # fmt: skip
            groups: dict[tuple[Flag, str], list[str]] = {}
            for cell in cells:
                flag = _missed(misses[cell], refused.get(cell))
                if flag.state == "good" and (
                    number := unasked(cell, misses[cell], compiled.get(cell), refused.get(cell))
                ):
                    flag = Flag(f"{number:,.0f} compiled without a lookup")
                groups.setdefault((flag, _hits(functions.get(str(cell)))), []).append(cell.launch)
            counts = tuple((listed(own), *what) for what, own in groups.items())
            if counts:
                yield Strip(scenario, backend, css_name(backend), counts, link)


def spot_of(observed: SiteInput, subject: Newest) -> Spot | None:
    """The place of the newest subject; None if no line has it."""
    for number, line in enumerate(observed.lines):
        for place, one in enumerate(line.subjects):
            if one.label == subject.subject and subject.setting.is_of(line):
                return number, place
    return None


def _missed(misses: CellValue, refused: CellValue | None) -> Flag:
    found = ((misses, "missed"), (refused, "refused"))
    parts = [f"{one.value:,.0f} {word}" for one, word in found if one and one.wrong]
    return Flag(", ".join(parts), "bad", "✗") if parts else Flag("0 missed", "good", "✓")


def _hits(found: Sequence[Function] | None) -> str:
    if found is None:
        return ""
    return f"{sum(f.number for f in found if f.outcome == 'hit'):,} hit"


def _none_of(subject: Newest, metric: str, nouns: str, unknown: str) -> Flag:
    values, bad = subject.checked(metric)
    if not values:
        return Flag(unknown, "absent")
    if bad:
        where = several(len(bad), "cell")
        return Flag(f"{sum(bad.values()):,.0f} {nouns} in {where}", "bad", "✗")
    if absent := subject.unchecked(metric):
        return Flag(f"no {nouns} in {several(len(values), 'cell')}; {absent:,} not checked")
    return Flag(f"no {nouns} in {several(len(values), 'cell')}", "good", "✓")
