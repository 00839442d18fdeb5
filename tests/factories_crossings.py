"""Searches for the axis that made a change. FOR TESTS ONLY: no value here was measured."""

from __future__ import annotations

from typing import Any

from observatory.store.records.crossings import (
    Along,
    Combined,
    Crossed,
    CrossedAxis,
    CrossedCause,
    CrossedRelease,
    CrossedStep,
)
from tests.factories import NOON, WARM
from tests.factories_searches import BAD, GOOD

AXES = [
    CrossedAxis(name="PyTensor", versions={"pytensor": ("3.0.1", "3.0.2")}, needed=False),
    CrossedAxis(
        name="numba", needed=True,
        versions={"numba": ("0.66.0", "0.68.0"), "llvmlite": ("0.48.0", "0.50.0")},
    ),
    CrossedAxis(name="numpy", versions={"numpy": ("2.4.6", "2.5.4")}, needed=False),
]  # fmt: skip


def along(**changes: Any) -> Along:
    """A search along three releases of numba."""
    own = {
        "package": "numba", "releases": 3,
        "values": [CrossedRelease(version=f"0.6{n}.0", value=4.0 * (n > 6)) for n in (6, 7, 8)],
        "steps": [CrossedStep(before="0.66.0", after="0.67.0", low=0, high=4)],
    }  # fmt: skip
    return Along(**{**own, **changes})


def crossed(**changes: Any) -> Crossed:
    """A search that blames numba."""
    own = {
        "observatory": "0.1", "machine": "bench", "cell": WARM, "metric": "cache_misses",
        "good": GOOD, "bad": BAD, "low": 0, "high": 4, "axes": AXES,
        "combinations": [
            Combined(new=["PyTensor"], value=0, measured=False),
            Combined(new=["numba"], value=4),
            Combined(new=["PyTensor", "numpy"], value=0),
        ],
        "causes": [CrossedCause(axes=["numba"])], "along": [along()], "samples": 6,
        "full_product": 16, "seconds": 90.0, "taken_at": NOON,
    }  # fmt: skip
    return Crossed(**{**own, **changes})
