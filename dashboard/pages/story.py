"""The story of the caches in one sentence and three small pictures: when they began to hit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

from observatory.dashboard.drawing.geometry import Drawing, count_drawings, time_drawings
from observatory.dashboard.drawing.panels import Panel, Point
from observatory.dashboard.pages.history import COUNTED_BACKEND, History
from observatory.text import units
from observatory.text.words import several

FEWEST = 3
"""Releases below which there is no story yet."""


@dataclass(frozen=True)
class Story:
    """What the first page shows of the history, and the scenario and backend it is of."""

    sentence: str
    scenario: str
    backend: str
    panels: tuple[tuple[str, str, Panel, Drawing], ...]
    """A title, a subtitle, the panel and its drawing."""


def story_of(past: History) -> Story | None:
    """The story of the scenario whose misses fell most; None while there is none to tell."""
    falls = [(fall[1] - fall[2], fall, one) for one in past.misses if (fall := _fall(one))]
    if past.releases < FEWEST or not falls:
        return None
    _, (release, before, after), misses = max(falls, key=lambda each: each[0])
    times = next((one for one in past.times if one.scenario == misses.scenario), None)
    parts = [f"{release}: {before:,.0f} misses → {after:,.0f}"]
    if times is not None and (spent := _times(times, release)):
        parts[0] += f", {spent[0]} → {spent[1]}"
    if wrong := _wrong(past.wrong):
        parts.append(wrong)
    own = times and _only(times, COUNTED_BACKEND)
    drawn = (
        ("Misses", "functions not found in a filled cache", misses, count_drawings((misses,))[0]),
        ("Time", "until the first call returned", own, time_drawings((own,))[0] if own else None),
        ("Wrong values", "of processes that share a cache", past.wrong,
         count_drawings((past.wrong,))[0]),
    )  # fmt: skip
    return Story(
        "; ".join(parts), misses.scenario, COUNTED_BACKEND,
        tuple((title, says, one, drawing) for title, says, one, drawing in drawn
              if one and drawing),
    )  # fmt: skip


def _fall(panel: Panel) -> tuple[str, float, float] | None:
    """The largest fall of a count from one release to the next; None if it never fell."""
    points = _known(panel.lines[0].points, panel.releases)
    falls = [(name, old, new) for (_, old), (name, new) in pairwise(points) if new < old]
    return max(falls, key=lambda one: one[1] - one[2], default=None)


def _times(panel: Panel, release: str) -> tuple[str, str] | None:
    """The times of the counted backend before and at a release."""
    line = next((one for one in panel.lines if one.name == COUNTED_BACKEND), None)
    points = _known(line.points, panel.releases) if line else []
    for (_, old), (name, new) in pairwise(points):
        if name == release:
            return units.seconds(old), units.seconds(new)
    return None


def _wrong(panel: Panel) -> str:
    """How many values were wrong at most, and until when; empty if none was."""
    points = _known(panel.lines[0].points, panel.releases)
    bad = [place for place, (_, value) in enumerate(points) if value]
    if not bad:
        return ""
    most = several(max(value for _, value in points), "wrong value")
    if bad[-1] == len(points) - 1:
        return f"{most} to this day"
    return f"{most} until {points[bad[-1] + 1][0]}"


def _known(points: tuple[Point, ...], releases: tuple[str, ...]) -> list[tuple[str, float]]:
    pairs = zip(releases, points, strict=True)
    return [(name, one.value) for name, one in pairs if one.value is not None]


def _only(panel: Panel, name: str) -> Panel:
    """The panel with one of its lines."""
    lines = tuple(one for one in panel.lines if one.name == name)
    return replace(panel, slug=f"story-{panel.slug}", lines=lines)
