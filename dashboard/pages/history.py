"""Along the releases: what is drawn, in which setting, and what was left out of the picture."""

from __future__ import annotations

from dataclasses import dataclass, replace

from observatory.benchmarks.catalogue import (
    BUILDS,
    LAUNCHES,
    MAIN_BACKENDS,
    MODELS,
    SCENARIOS,
    SHARING_BACKENDS,
    WARM_SCENARIOS,
)
from observatory.dashboard.colours import css_name
from observatory.dashboard.drawing.panels import ChartLine, Panel, Point, Table
from observatory.dashboard.pages.cell_values import CellValue
from observatory.dashboard.pages.summary import Newest
from observatory.text import units
from observatory.text.plain import clean, shorten
from observatory.text.words import known_first, listed, several

TIME_SCENARIOS = tuple(sorted(BUILDS, key=lambda name: not SCENARIOS[name].warm))
_LABEL = 60
COUNTED_BACKEND = SHARING_BACKENDS[0]


@dataclass(frozen=True)
class CountedSubject:
    """A count that is drawn along the releases and should be 0."""

    scenario: str
    metric: str
    noun: str
    verbs: tuple[str, str]
    """Past, of one and of several: "3 functions missed"."""
    caption: str


MISSES = tuple(
    CountedSubject(scenario, "cache_misses", "function", ("missed", "missed"), "Cache misses")
    for scenario in WARM_SCENARIOS
)
WRONG = CountedSubject(
    "siblings", "wrong_results", "value", ("was wrong", "were wrong"), "Wrong results"
)


@dataclass(frozen=True)
class History:
    """The panels and texts of the history page."""

    model: str
    launch: str
    setting: str
    releases: int
    times: tuple[Panel, ...]
    misses: tuple[Panel, ...]
    wrong: Panel
    in_words: tuple[str, ...]
    left_out: tuple[str, ...]
    own: tuple[CellValue, ...]
    """The values that stand on its lines."""


def history(cell_values: tuple[CellValue, ...], subject: Newest) -> History:
    """Select the cell_values that may stand on one line with the newest subject, and arrange them.

    ``cell_values`` must be in the order of the history, as ``cell_values.read`` gives them.
    """
    model = known_first((one.cell.model for one in subject.cell_values), MODELS)[0]
    in_setting = [r for r in cell_values if r.setting == subject.setting]
    on_line = [r for r in in_setting if r.is_plain or r.subject == subject.subject]
    own = [one for one in on_line if one.cell.model == model]
    launch = _launch_with_most(own)
    own = [replace(one, subject=shorten(one.subject, _LABEL)) for one in own]
    releases = tuple(dict.fromkeys(one.subject for one in own))
    # A scenario of other models only (the census) has no place in the history of this one.
    there = {one.cell.scenario for one in own}.union(TIME_SCENARIOS)
    counted_here = [one for one in MISSES if one.scenario in there]
    misses = tuple(_count_panel(counted, own, releases) for counted in counted_here)
    wrong = _count_panel(WRONG, own, releases)
    return History(
        model, launch, str(subject.setting), len(releases), own=tuple(own),
        times=tuple(_time_panel(scenario, launch, own, releases) for scenario in TIME_SCENARIOS),
        misses=misses, wrong=wrong,
        in_words=(
            *map(_in_words, misses, counted_here),
            _in_words(wrong, WRONG),
        ),
        left_out=tuple(_left_out(cell_values, in_setting, on_line, own, subject)),
    )  # fmt: skip


def _launch_with_most(cell_values: list[CellValue]) -> str:
    """The launch with most times; if several have as many, the first of the vocabulary."""
    launches = known_first((one.cell.launch for one in cell_values), LAUNCHES)
    timed = [
        r.cell.launch for r in cell_values if r.metric == "compile_time" and r.value is not None
    ]
    return max(launches, key=timed.count)


def _time_panel(
    scenario: str, launch: str, own: list[CellValue], releases: tuple[str, ...]
) -> Panel:
    found = {
        (r.subject, r.cell.backend, r.metric): r
        for r in own
        if r.cell.scenario == scenario and r.cell.launch == launch
    }
    lines = tuple(
        ChartLine(backend, css_name(backend), tuple(
            _time_point(
                release, backend, found.get((release, backend, "compile_time")),
                found.get((release, backend, "crashed")),
            )
            for release in releases
        ))
        for backend in MAIN_BACKENDS
    )  # fmt: skip
    rows = tuple(
        (release, *(_time_entry(line.points[place]) for line in lines))
        for place, release in enumerate(releases)
    )
    title = f"Compile time, {scenario}"
    caption = f"{title}, start method {launch}: median and interval by release"
    table = Table(caption, ("release", *MAIN_BACKENDS), rows)
    meaning = SCENARIOS[scenario].meaning
    return Panel(f"time-{scenario}", scenario, scenario, meaning, releases, lines, table)


def _time_point(
    release: str, backend: str, time: CellValue | None, crash: CellValue | None
) -> Point:
    if time is None or time.value is None:
        crashed = bool(crash and crash.value)
        return Point(None, None, None, f"{release}, {backend}: crashed", crashed)
    entry = units.seconds(time.value)
    if time.low is not None and time.high is not None and time.low != time.high:
        entry += f" ({units.seconds(time.low)} to {units.seconds(time.high)})"
    return Point(time.value, time.low, time.high, f"{release}, {backend}: {entry}", entry=entry)


def _time_entry(point: Point) -> str:
    if point.value is None:
        return "crashed" if point.crashed else "not measured"
    return point.entry


def _count_panel(counted: CountedSubject, own: list[CellValue], releases: tuple[str, ...]) -> Panel:
    counts = {
        (r.subject, r.cell.launch): r.value
        for r in own
        if r.metric == counted.metric
        and r.cell.scenario == counted.scenario
        and r.cell.backend == COUNTED_BACKEND
        and r.value is not None
    }
    launches = known_first((launch for _, launch in counts), LAUNCHES)
    last = max((release for release, _ in counts), key=releases.index, default=None)
    # One that the last release did not count would end as 0, which nobody observed.
    followed = [each for each in launches if (last, each) in counts]
    points = []
    for release in releases:
        # What happens under one launch happens: the picture shows the worst, the table each.
        values = [counts[release, each] for each in followed if (release, each) in counts]
        worst = max(values, default=None)
        text = "not counted"
        if worst is not None:
            text = f"{several(worst, counted.noun)} {counted.verbs[worst != 1]}"
        points.append(Point(worst, None, None, f"{release}: {text}"))
    rows = tuple(
        (release, *(_count_entry(counts.get((release, each))) for each in launches))
        for release in releases
    )
    scenario = counted.scenario
    under = f" under {listed(followed)}" if followed != launches else ""
    what = f"{counted.caption} of {COUNTED_BACKEND} in {scenario}"
    caption = f"{what}: {counted.noun}s by release and start method"
    table = Table(caption, ("release", *launches), rows)
    line = ChartLine(COUNTED_BACKEND, css_name(COUNTED_BACKEND), tuple(points))
    return Panel(
        f"counts-{scenario}",
        scenario,
        f"{scenario}{under}",
        SCENARIOS[scenario].meaning,
        releases,
        (line,),
        table,
    )


def _count_entry(value: float | None) -> str:
    return "not counted" if value is None else f"{value:,.0f}"


def _in_words(panel: Panel, counted: CountedSubject) -> str:
    """Say since which release the count is 0, or what it is now if it is not 0."""
    values = [
        (release, point.value)
        for release, point in zip(panel.releases, panel.lines[0].points, strict=True)
        if point.value is not None
    ]
    if not values:
        return f"{panel.title}: no release was counted."
    newest_release, newest_count = values[-1]
    what = counted.caption.lower()
    if newest_count:
        return f"{panel.title}: {what} in {newest_release}: {newest_count:,.0f}."
    since = newest_release
    for release, count in reversed(values):
        if count:
            before = f"{release} had {count:,.0f}"
            return f"{panel.title}: no {what} since {since}; {before}."
        since = release
    return f"{panel.title}: no {what} in {several(len(values), 'release')}."


def _left_out(
    cell_values: tuple[CellValue, ...],
    in_setting: list[CellValue],
    on_line: list[CellValue],
    own: list[CellValue],
    subject: Newest,
) -> list[str]:
    """Name what was measured but is not in the pictures."""
    text = []
    others: dict[str, list[CellValue]] = {}
    for one in cell_values:
        if one.setting != subject.setting:
            others.setdefault(one.setting.whole, []).append(one)
    for where, found in sorted(others.items()):
        more = " with other packages" if where == subject.setting.whole else ""
        settings = {one.setting for one in found}
        apart = f" in {several(len(settings), 'environment')}" if len(settings) > 1 else ""
        subjects = several(len({one.subject for one in found}), "subject")
        text.append(f"{clean(where)}{more} ({subjects}{apart})")
    extras = {r.subject for r in in_setting} - {r.subject for r in on_line}
    if extras:
        text.append(f"{several(len(extras), 'subject')} with extra requirements")
    models = {r.cell.model for r in on_line} - {r.cell.model for r in own}
    if models:
        text.append(f"model {listed(known_first(models, MODELS))}")
    return text
