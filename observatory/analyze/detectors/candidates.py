"""Detectors of steps, ours and others', behind one shape: values in, first indices of levels out.

What others do is measured with their own code where that can be imported (asv, ruptures). Otava
runs in an environment of its own (scripts/otava_detector.py), since it pins another numpy.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from ruptures import KernelCPD

from observatory.analyze.history.steps import PARAMETERS, Values, change_points

Detector = Callable[[Values], list[int]]
"""From finite values in the order of time to where new levels begin, ascending."""

OURS = "observatory"
_PERFHERDER_BACK = (12, 24)
_PERFHERDER_FORE = 12
_PERFHERDER_T = 7.0


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


DETECTORS: dict[str, tuple[Detector, str]] = {
    OURS: (change_points, "ours: narrow kernel on ranks, PELT"),
    "asv": (asv, "asv's step detection"),
    "kernel": (kernel_on_values, "ruptures KernelCPD(rbf) on standardised values, penalty ln n"),
    "perfherder": (perfherder, "Mozilla Perfherder, t > 7"),
}
"""By name: the detector, and what it is in words."""
