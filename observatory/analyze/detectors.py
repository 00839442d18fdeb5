"""How often a detector of steps is wrong, measured on real series. Pure.

Recipe. From each series of at least FEWEST_VALUES values one random window of WINDOW is permuted:
no change is left in it by construction, so that any alarm is false. Then everything after a random
position in POSITIONS is multiplied by each of STEPS; a step is found if a detector names a place
within TOLERANCE of it. Everything else that it names is false.

Permutation also removes what real noise remembers from one night to the next (drift, machines that
are slow for a week). The block-permuted form keeps that within blocks of BLOCK values: alarms
in it are not all false, for a block may hold a real change, but rates that were far
from those of the first form would say that independence flatters the detector.

Online. The detector is run again night after night, for each prefix of NIGHTS values, on the
permuted window and on the same window with +10 % from a position on. A false alarm is a place, not
within TOLERANCE of one that was named before, that a night names first and where nothing is.

The detectors have one shape: values in, first indices of levels out. What others do is measured
with their own code where that can be imported (asv, ruptures). Otava runs in an environment of its
own (scripts/otava_detector.py), since it pins another numpy.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from ruptures import KernelCPD

from observatory.analyze.delays import Delays
from observatory.analyze.history.fresh import with_fresh
from observatory.analyze.history.steps import PARAMETERS, Values, change_points

Detector = Callable[[Values], list[int]]
"""From finite values in the order of time to where new levels begin, ascending."""

OURS = "observatory"
_PERFHERDER_BACK = (12, 24)
_PERFHERDER_FORE = 12
_PERFHERDER_T = 7.0
FEWEST_VALUES = 200
WINDOW = 150
BLOCK = 10
POSITIONS = (30, 120)
STEPS = (1.03, 1.05, 1.10, 1.20)
TOLERANCE = 5
NIGHTS = (60, 150)
ONLINE_STEP = 1.10
ONLINE_POSITIONS = (65, 120)
"""Not before the first night and a minimum before it, not later than 30 nights from the end."""
FOUND_WITHIN = 30


def asv(values: Values) -> list[int]:
    """`asv.step_detect.detect_steps` (asv 0.6): what `asv publish` shows as steps."""
    # asv takes a quarter of a second to import: only who evaluates it needs it.
    from asv.step_detect import detect_steps

    return [int(left) for left, *_ in detect_steps(list(values))[1:]]


def kernel_on_values(values: Values) -> list[int]:
    """KernelCPD(rbf) on standardised values, penalty ln n, min_size 5: the method on values."""
    deviation = values.std()
    if len(values) < 2 * PARAMETERS.fewest or deviation == 0:
        return []
    scaled = (values - values.mean()) / deviation
    algorithm = KernelCPD(kernel="rbf", min_size=PARAMETERS.fewest)
    found: list[int] = algorithm.fit(scaled.reshape(-1, 1)).predict(pen=math.log(len(values)))
    return found[:-1]


def perfherder(values: Values) -> list[int]:
    """Mozilla's Perfherder: t of the 12 to 24 values before against the 12 from here on, over 7.

    The values nearer to the candidate weigh more, linearly; of neighbours over the threshold the
    largest counts (https://wiki.mozilla.org/Performance/Alerts, `perfalert/__init__.py`).
    """
    least, most = _PERFHERDER_BACK
    scores = np.zeros(len(values) + 1)
    for place in range(least, len(values) - _PERFHERDER_FORE + 1):
        old = values[max(0, place - most) : place][::-1]
        scores[place] = _t(old, values[place : place + _PERFHERDER_FORE])
    high = [p for p in range(1, len(values)) if scores[p] > _PERFHERDER_T]
    return [p for p in high if scores[p] >= scores[p - 1] and scores[p] > scores[p + 1]]


def _t(old: Values, new: Values) -> float:
    """Welch's t with weights that fall linearly with the distance. Values: nearest first."""
    means, errors = [], []
    for side in (old, new):
        weights = np.arange(len(side), 0, -1) / len(side)
        mean = float(np.average(side, weights=weights))
        means.append(mean)
        errors.append(float(((side - mean) ** 2).sum() / (len(side) - 1)) / len(side))
    error = math.sqrt(sum(errors))
    return abs(means[1] - means[0]) / error if error else 0.0


def ours(values: Values) -> list[int]:
    """The steps that alerts are made of, in a series without drift and exact events."""
    return with_fresh(values, change_points(values))


DETECTORS: dict[str, tuple[Detector, str]] = {
    OURS: (ours, "ours: narrow kernel on ranks, PELT, and a rank test of the newest values"),
    "asv": (asv, "asv's step detection"),
    "kernel": (kernel_on_values, "ruptures KernelCPD(rbf) on standardised values, penalty ln n"),
    "perfherder": (perfherder, "Mozilla Perfherder, t > 7"),
}
"""By name: the detector, and what it is in words."""


@dataclass(frozen=True)
class Window:
    """One series in an evaluation: values without a change, and the position of one to come."""

    values: Values
    position: int
    online_position: int

    def stepped(self, factor: float, position: int | None = None) -> Values:
        """The values with a step at the position."""
        made = self.values.copy()
        made[self.position if position is None else position :] *= factor
        return made


@dataclass(frozen=True)
class Rates:
    """What a detector does on windows with and without a step. Counts, and shares of 1."""

    detector: str
    series: int
    null_alarms: int
    """Places named in windows without a step."""
    null_series: int
    """Windows without a step in which any place was named."""
    found: dict[float, int]
    """By step: in how many series it was found."""
    extra: int
    """Places named beside the step, in windows with one."""
    seconds: float
    """The time that all runs took."""

    @property
    def f1(self) -> float:
        """2 TP / (2 TP + FP + FN), null alarms pooled in."""
        hits = sum(self.found.values())
        missed = self.series * len(self.found) - hits
        wrong = self.null_alarms + self.extra
        return 2 * hits / (2 * hits + wrong + missed) if self.series else 0.0

    @property
    def false_series_per_1000(self) -> float:
        """Series with a false alarm, of a thousand without a step."""
        return 1000 * self.null_series / self.series if self.series else 0.0

    @property
    def ms_per_series(self) -> float:
        """Milliseconds that one window takes."""
        runs = self.series * (1 + len(self.found))
        return 1000 * self.seconds / runs if runs else 0.0

    def recall(self, step: float) -> float:
        """The share of the series in which a step was found."""
        return self.found[step] / self.series if self.series else 0.0


@dataclass(frozen=True)
class OnlineRates(Delays):
    """What a detector does when run again every night."""

    detector: str
    series: int
    nights: int
    """Series-nights without a step."""
    false_alarms: int
    delays: tuple[int, ...] = field(repr=False)
    """Nights from the step until it was first named, where that was within FOUND_WITHIN."""

    @property
    def false_per_1000_nights(self) -> float:
        """False alarms in a thousand series-nights."""
        return 1000 * self.false_alarms / self.nights if self.nights else 0.0


def windows(series: Sequence[Values], seed: int, block: int = 1) -> list[Window]:
    """A window of each series that is long enough, permuted in blocks of `block` values.

    Each series draws from a generator of its own, by its place among them.
    """
    made = []
    for number, values in enumerate(series):
        if len(values) < FEWEST_VALUES:
            continue
        rng = np.random.default_rng((seed, number))
        start = rng.integers(0, len(values) - WINDOW + 1)
        window = values[start : start + WINDOW]
        order = rng.permutation(WINDOW // block)
        position = int(rng.integers(POSITIONS[0], POSITIONS[1] + 1))
        online = int(rng.integers(ONLINE_POSITIONS[0], ONLINE_POSITIONS[1] + 1))
        made.append(Window(window.reshape(-1, block)[order].ravel(), position, online))
    return made


def rates(name: str, detector: Detector, drawn: Sequence[Window]) -> Rates:
    """Run a detector on windows without a step and with each of STEPS."""
    null_alarms = null_series = extra = 0
    found = dict.fromkeys(STEPS, 0)
    started = time.perf_counter()
    for window in drawn:
        alarms = detector(window.values)
        null_alarms += len(alarms)
        null_series += bool(alarms)
        for step in STEPS:
            named = detector(window.stepped(step))
            hit = any(abs(place - window.position) <= TOLERANCE for place in named)
            found[step] += hit
            extra += len(named) - hit
    spent = time.perf_counter() - started
    return Rates(name, len(drawn), null_alarms, null_series, found, extra, spent)


def online_rates(name: str, detector: Detector, drawn: Sequence[Window]) -> OnlineRates:
    """Run a detector night after night on windows without a step, and with ONLINE_STEP."""
    false_alarms = 0
    delays = []
    for window in drawn:
        false_alarms += sum(1 for _ in _first_named(detector, window.values))
        place = window.online_position
        delay = _delay(detector, window.stepped(ONLINE_STEP, place), place)
        if delay is not None:
            delays.append(delay)
    nights = len(drawn) * (NIGHTS[1] - NIGHTS[0] + 1)
    return OnlineRates(name, len(drawn), nights, false_alarms, tuple(delays))


def _first_named(detector: Detector, values: Values) -> Iterator[int]:
    """Places that a night names first: no earlier night named one within TOLERANCE."""
    known: list[int] = []
    for night in range(NIGHTS[0], NIGHTS[1] + 1):
        for place in detector(values[:night]):
            if all(abs(place - other) > TOLERANCE for other in known):
                known.append(place)
                yield place


def _delay(detector: Detector, values: Values, place: int) -> int | None:
    last = min(place + FOUND_WITHIN, NIGHTS[1])
    for night in range(max(place + 1, NIGHTS[0]), last + 1):
        if any(abs(found - place) <= TOLERANCE for found in detector(values[:night])):
            return night - place
    return None
