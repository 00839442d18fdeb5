"""What lists and grids show of each series: made again only if the series changed.

The key of a series is a hash of all that follows from it or is shown of it: its values, its line,
its levels, its alerts, and which series there are beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np
from markupsafe import Markup

from observatory.analyze.history.segments import SegmentedSeries
from observatory.dashboard.drawing.series import SPARK_HEIGHT, Picture, Spark, picture, spark
from observatory.dashboard.kept import Kept, hashed
from observatory.dashboard.kin import Kin
from observatory.dashboard.pages.newest_value import NewestChange, State, newest_change
from observatory.dashboard.rendering import macro
from observatory.dashboard.rows import row
from observatory.dashboard.site_input import SiteInput
from observatory.store.records.alerts import At, SeriesChange

HEIGHTS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_LETTERS = np.frombuffer(HEIGHTS.encode(), "S1")


class View(NamedTuple):
    """What is shown of one series where there are many."""

    spark: str
    """A letter for each height of its sparkline; empty for a single value."""
    state: State
    words: str
    """What became of the newest value, and how many times the noise that is."""
    multiple: str
    noise: float | None
    when: str
    """The date of the newest step; empty without one."""
    impact: float
    """Its relative size."""


class Pictured(NamedTuple):
    """The picture of a series on the page of an alert."""

    html: Markup
    key: str
    make: Callable[[], Picture]


class Views:
    """The views and keys of all series, by their numbers."""

    def __init__(self, observed: SiteInput, kept: Kept, of_caches: bool) -> None:
        self._observed = observed
        self._kept = kept
        self._of_caches = of_caches
        self._views: dict[int, View] = {}
        self._sparks: dict[int, Spark | None] = {}
        """Those that were drawn for a view, until its row is made."""
        self._lines = [
            hashed(repr((line.machine, line.env_name, line.era)),
                   "\n".join(f"{s.label}\0{s.commit}\0{s.date}" for s in line.subjects))
            for line in observed.lines
        ]  # fmt: skip

    @cached_property
    def kin(self) -> Kin:
        """What belongs beside each series. To find it for all takes a while."""
        return Kin(self._observed)

    @cached_property
    def values_keys(self) -> list[str]:
        """The key of what each series is, without what alerts say of it."""
        return [self._key(number) for number in range(len(self._observed.tracks))]

    @cached_property
    def keys(self) -> list[str]:
        """The key of each series: of all that is shown of it."""
        found = []
        for key, track in zip(self.values_keys, self._observed.tracks, strict=True):
            own = self._observed.verdicts_on(track)
            told = [
                f"{(alert.id, alert.state, alert.kind, alert.sentence)} {change.model_dump_json()}"
                for alert, change in own.alerts
            ]
            found.append(hashed(key, repr((own.rule, own.best)), *told))
        return found

    @cached_property
    def all(self) -> list[View]:
        """The view of each series."""
        return [self._view(number) for number in range(len(self._observed.tracks))]

    def tell_noise(self) -> None:
        """Tell each series its noise, which several pages ask for."""
        for track, view in zip(self._observed.tracks, self.all, strict=True):
            vars(track)["noise"] = view.noise

    def row(self, number: int) -> Markup:
        """HTML of the row of a series in the lists."""
        view, track = self._view(number), self._observed.tracks[number]
        drawn = self._sparks.pop(number) if number in self._sparks else spark(track)
        change = NewestChange(view.state, view.words, view.multiple)
        return row(self._observed, number, change, drawn, self._of_caches)

    def _view(self, number: int) -> View:
        if number not in self._views:
            key = self.keys[number]
            self._views[number] = View(*self._kept.view(key, lambda: self._made(number)))
        return self._views[number]

    @cached_property
    def _others(self) -> str:
        """Which series there are: kin follow from that."""
        observed = self._observed
        numbers = ",".join(str(observed.line_of(track)) for track in observed.tracks)
        named = "\n".join(f"{t.series.place.unit}" for t in observed.tracks)
        return hashed("".join(observed.ids), numbers, named, str(self._of_caches))

    def pictured(
        self, _: SiteInput, number: int, change: SeriesChange, over: At | None
    ) -> Pictured:
        """The picture of a series with a change, which is drawn only if it is new."""
        said = change.model_dump_json(), "" if over is None else over.model_dump_json()
        key = hashed("picture", self.keys[number], *said)

        def make() -> Picture:
            return picture(self._observed, number, change, over)

        html = self._kept.view(key, lambda: self._figure(make(), "../"))
        return Pictured(Markup(html), key, make)  # noqa: S704 a template of ours made it

    @cached_property
    def _figure(self) -> Callable[..., Markup]:
        return macro("_picture.html", "picture", {})

    def _key(self, number: int) -> str:
        observed = self._observed
        track = observed.tracks[number]
        series, drift = track.series, track.drift
        words = (
            self._others, self._lines[observed.line_of(track)], number, series.place, series.source,
            track.judgement, track.reason, track.bounds,
            drift and (drift.ratio, drift.low, drift.high, drift.slope),
            observed.machine_changed(track),
            self.kin.events(number) if series.place.model else (),
        )  # fmt: skip
        return hashed(repr(words), series.summary.digest)

    def _made(self, number: int) -> View:
        observed = self._observed
        track, change = observed.tracks[number], newest_change(observed, observed.tracks[number])
        when, impact = _newest_step(track)
        self._sparks[number] = drawn = spark(track)
        code = _coded(drawn)
        return View(code, change.state, change.words, change.noise, track.noise, when, impact)


def _newest_step(track: SegmentedSeries) -> tuple[str, float]:
    """The date of the newest step and its relative size; from 0 it is a million."""
    if len(track.bounds) < 3:
        return "", 0.0
    before, after = sorted(abs(level) for level in track.levels[-2:])
    when = f"{track.series.subject(track.bounds[-2]).date:%Y-%m-%d}"
    return when, round(min(after / before, 1e6) - 1, 4) if before else 1e6


def _coded(drawn: Spark | None) -> str:
    """The sparkline, a letter for each height from the top; empty for a single value."""
    if drawn is None:
        return ""
    heights = np.fromstring(drawn.path.replace(",", " "), np.float64, sep=" ")[1::2]
    top = len(HEIGHTS) - 1
    places = np.clip(np.rint(heights / SPARK_HEIGHT * top), 0, top).astype(np.intp)
    return _LETTERS[places].tobytes().decode()
