"""What lists and grids show of each series: made again only if the series changed.

The key of a series is a hash of all that follows from it or is shown of it: its values, its line,
its levels, its alerts, and which series are its kin. The number of a series is not part of it,
because that depends on which other series there are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from sys import intern
from typing import NamedTuple, cast

import numpy as np
from markupsafe import Markup

from observatory.analyze.comparison.rules import Rule
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

    @classmethod
    def of(
        cls, code: str, state: State, words: str, multiple: str, noise: float | None, when: str,
        impact: float,
    ) -> View:  # fmt: skip
        """A view whose words are shared with others: most say the same."""
        state = cast("State", intern(state))
        return cls(code, state, intern(words), intern(multiple), noise, intern(when), impact)


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
        self._drawn: tuple[int, Spark | None] = -1, None
        """The number and the sparkline of the last series whose view was made."""
        self._lines = [
            hashed(repr((line.machine, line.env_name, line.era)),
                   "\n".join(f"{s.label}\0{s.commit}\0{s.date}" for s in line.subjects))
            for line in observed.lines
        ]  # fmt: skip

    @cached_property
    def kin(self) -> Kin:
        """What belongs beside each series. To find it for all takes a while."""
        return Kin(self._observed)

    @property
    def keys(self) -> Sequence[str]:
        """The key of each series: of all that is shown of it."""
        return self._keys[0]

    @property
    def line_keys(self) -> Mapping[int, str]:
        """By line, the key of what its series are, without what alerts say of them."""
        return self._keys[1]

    @cached_property
    def _keys(self) -> tuple[list[str], dict[int, str]]:
        found: list[str] = []
        lines: dict[int, bytearray] = defaultdict(bytearray)
        for number, track in enumerate(self._observed.tracks):
            key = self._key(number)
            lines[self._observed.line_of(track)] += bytes.fromhex(key)
            told = [
                f"{(alert.id, alert.state, alert.kind, alert.sentence)} {change.model_dump_json()}"
                for alert, change in self._observed.alerts_on(number)
            ]
            found.append(hashed(key, *told) if told else key)
        return found, {line: hashed(keys) for line, keys in lines.items()}

    @property
    def all(self) -> list[View]:
        """The view of each series."""
        return [self._view(number) for number in range(len(self._observed.tracks))]

    def track(self, number: int) -> SegmentedSeries:
        """The series of this number, which need not look for its noise again."""
        track = self._observed.tracks[number]
        vars(track)["noise"] = self._view(number).noise
        return track

    def row(self, number: int) -> Markup:
        """HTML of the row of a series in the lists."""
        view = self._view(number)
        change = NewestChange(view.state, view.words, view.multiple)
        last, drawn = self._drawn
        if last != number:
            drawn = spark(self._observed.tracks[number])
        return row(self._observed, number, change, drawn, self._of_caches)

    def _view(self, number: int) -> View:
        found: View = self._kept.view(
            self.keys[number], lambda: self._made(number), lambda kept: View.of(*kept)
        )
        return found

    def pictured(
        self, _: SiteInput, number: int, change: SeriesChange, over: At | None
    ) -> Pictured:
        """The picture of a series with a change, which is drawn only if it is new."""
        said = change.model_dump_json(), "" if over is None else over.model_dump_json()
        key = hashed("picture", self.keys[number], *said)

        @cache  # both the page of an alert and its picture for other pages may need it
        def make() -> Picture:
            return picture(self._observed, number, change, over)

        html = self._kept.view(key, lambda: self._figure(make(), "../"), str)
        return Pictured(Markup(html), key, make)  # noqa: S704 a template of ours made it

    @cached_property
    def _figure(self) -> Callable[..., Markup]:
        return macro("_picture.html", "picture", {})

    def _key(self, number: int) -> str:
        observed = self._observed
        track = observed.tracks[number]
        series, drift, line = track.series, track.drift, observed.line_of(track)
        machine = observed.machine_change_of(track)
        words = (
            observed.ids[number], *self.kin.groups(number), self._of_caches,
            line, self._lines[line], series.place, series.source,
            track.judgement, track.reason, track.bounds, *_words(*observed.rule_of(track)),
            drift and (drift.ratio, drift.low, drift.high, drift.slope),
            machine and (machine.alike and machine.alike.ratio),
            self.kin.events(number) if series.place.model else (),
        )  # fmt: skip
        return hashed(repr(words), series.digest)

    def _made(self, number: int) -> View:
        observed = self._observed
        track = observed.tracks[number]
        change, (when, impact) = newest_change(observed, track), _newest_step(track)
        self._drawn = number, spark(track)
        code, noise = _coded(self._drawn[1]), track.noise
        track.forget()
        return View.of(code, change.state, change.words, change.noise, noise, when, impact)


@lru_cache(maxsize=1024)
def _words(rule: Rule, best: int | None) -> tuple[str, int | None]:
    """All of a rule in words, which take long to make: few are different."""
    return repr(rule), best


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
