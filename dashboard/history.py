"""Along the releases: what is drawn, in which setting, and what was left out of the picture."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.vocabulary import LAUNCHES, MODELS, SCENARIOS
from dashboard.readings import Reading
from dashboard.summary import Newest
from dashboard.words import MAIN_BACKENDS, css_name, known_first, listed, several
from observatory.decide import units

TIME_SCENARIOS = ("warm_disk", "warm_process", "cold")
MISS_SCENARIOS = ("warm_disk", "warm_process")
MISS_BACKEND = "NUMBA"


@dataclass(frozen=True)
class Point:
    """One release on one line; ``value`` None is a gap."""

    value: float | None
    low: float | None
    high: float | None
    text: str
    crashed: bool = False


@dataclass(frozen=True)
class Line:
    """One backend along the releases, a point for each."""

    name: str
    css: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Table:
    """The numbers of a picture, for those who do not see it or want to copy them."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Panel:
    """One picture and its table."""

    slug: str
    title: str
    subtitle: str
    releases: tuple[str, ...]
    lines: tuple[Line, ...]
    table: Table

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return all(point.value is None for line in self.lines for point in line.points)


@dataclass(frozen=True)
class History:
    """Everything that the section along the releases shows."""

    model: str
    launch: str
    setting: str
    releases: int
    times: tuple[Panel, ...]
    misses: tuple[Panel, ...]
    in_words: tuple[str, ...]
    left_out: tuple[str, ...]


def history(readings: tuple[Reading, ...], subject: Newest) -> History:
    """Select the readings that may stand on one line with the newest subject, and arrange them.

    ``readings`` must be in the order of the history, as ``dashboard.readings.read`` gives them.
    """
    model = known_first((reading.cell.model for reading in subject.readings), MODELS)[0]
    in_setting = [r for r in readings if r.setting == subject.setting]
    on_line = [r for r in in_setting if r.is_plain or r.subject == subject.subject]
    own = [reading for reading in on_line if reading.cell.model == model]
    launch = _launch_with_most(own)
    releases = tuple(dict.fromkeys(reading.subject for reading in own))
    misses = tuple(_miss_panel(scenario, own, releases) for scenario in MISS_SCENARIOS)
    return History(
        model=model,
        launch=launch,
        setting=str(subject.setting),
        releases=len(releases),
        times=tuple(_time_panel(scenario, launch, own, releases) for scenario in TIME_SCENARIOS),
        misses=misses,
        in_words=tuple(_in_words(panel) for panel in misses),
        left_out=tuple(_left_out(readings, in_setting, on_line, own, subject)),
    )


def _launch_with_most(readings: list[Reading]) -> str:
    """The launch with most times; the vocabulary's first where several have as many."""
    launches = known_first((reading.cell.launch for reading in readings), LAUNCHES)
    timed = [r.cell.launch for r in readings if r.metric == "compile_time" and r.value is not None]
    return max(launches, key=timed.count)


def _time_panel(scenario: str, launch: str, own: list[Reading], releases: tuple[str, ...]) -> Panel:
    found = {
        (r.subject, r.cell.backend, r.metric): r
        for r in own
        if r.cell.scenario == scenario and r.cell.launch == launch
    }
    lines = tuple(
        Line(
            backend,
            css_name(backend),
            tuple(
                _time_point(
                    release,
                    backend,
                    found.get((release, backend, "compile_time")),
                    found.get((release, backend, "crashed")),
                )
                for release in releases
            ),
        )
        for backend in MAIN_BACKENDS
    )
    rows = tuple(
        (release, *(_time_entry(line.points[place]) for line in lines))
        for place, release in enumerate(releases)
    )
    title = f"Compile time, {scenario}"
    caption = f"{title}, launch {launch}: median and interval by release"
    table = Table(caption, ("release", *MAIN_BACKENDS), rows)
    return Panel(f"time-{scenario}", scenario, SCENARIOS[scenario], releases, lines, table)


def _time_point(release: str, backend: str, time: Reading | None, crash: Reading | None) -> Point:
    if time is None or time.value is None:
        crashed = bool(crash and crash.value)
        return Point(None, None, None, f"{release}, {backend}: crashed", crashed)
    text = f"{release}, {backend}: {units.seconds(time.value)}"
    if time.low is not None and time.high is not None and time.low != time.high:
        text += f" ({units.seconds(time.low)} to {units.seconds(time.high)})"
    return Point(time.value, time.low, time.high, text)


def _time_entry(point: Point) -> str:
    if point.value is None:
        return "crashed" if point.crashed else "not measured"
    return point.text.split(": ", 1)[1]


def _miss_panel(scenario: str, own: list[Reading], releases: tuple[str, ...]) -> Panel:
    counts = {
        (r.subject, r.cell.launch): r.value
        for r in own
        if r.metric == "cache_misses"
        and r.cell.scenario == scenario
        and r.cell.backend == MISS_BACKEND
        and r.value is not None
    }
    launches = known_first((launch for _, launch in counts), LAUNCHES)
    points = []
    for release in releases:
        # A miss under one launch is a miss: the picture shows the worst, the table each.
        values = [counts[release, each] for each in launches if (release, each) in counts]
        worst = max(values, default=None)
        said = "not counted" if worst is None else several(worst, "function") + " missed"
        points.append(Point(worst, None, None, f"{release}: {said}"))
    rows = tuple(
        (release, *(_count_entry(counts.get((release, each))) for each in launches))
        for release in releases
    )
    caption = f"Cache misses of {MISS_BACKEND} in {scenario}: functions by release and launch"
    table = Table(caption, ("release", *launches), rows)
    line = Line(MISS_BACKEND, css_name(MISS_BACKEND), tuple(points))
    return Panel(f"misses-{scenario}", scenario, SCENARIOS[scenario], releases, (line,), table)


def _count_entry(value: float | None) -> str:
    return "not counted" if value is None else f"{value:,.0f}"


def _in_words(panel: Panel) -> str:
    """Since when the cache hits, or that it does not; read backwards from the newest count."""
    counted = [
        (release, point.value)
        for release, point in zip(panel.releases, panel.lines[0].points, strict=True)
        if point.value is not None
    ]
    if not counted:
        return f"{panel.title}: no release was counted."
    newest_release, newest_count = counted[-1]
    if newest_count:
        return (
            f"{panel.title}: {several(newest_count, 'function')} "
            f"{'misses' if newest_count == 1 else 'miss'} in {newest_release}."
        )
    since = newest_release
    for release, count in reversed(counted):
        if count:
            before = f"{release}, before it, missed {count:,.0f}"
            return f"{panel.title}: no misses since {since}; {before}."
        since = release
    return f"{panel.title}: no misses in any of the {several(len(counted), 'release')} counted."


def _left_out(
    readings: tuple[Reading, ...],
    in_setting: list[Reading],
    on_line: list[Reading],
    own: list[Reading],
    subject: Newest,
) -> list[str]:
    """Name what is in the frame but not in the pictures."""
    said = []
    others = sorted({r.setting for r in readings} - {subject.setting}, key=str)
    for setting in others:
        count = len({r.subject for r in readings if r.setting == setting})
        said.append(f"{setting} ({several(count, 'subject')})")
    extras = {r.subject for r in in_setting} - {r.subject for r in on_line}
    if extras:
        said.append(f"{several(len(extras), 'subject')} with extra requirements")
    models = {r.cell.model for r in on_line} - {r.cell.model for r in own}
    if models:
        said.append(f"model {listed(known_first(models, MODELS))}")
    return said
