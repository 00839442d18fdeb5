"""Nights of a machine. FOR TESTS ONLY: no time here was measured."""

from __future__ import annotations

from datetime import timedelta

from observatory.store.records.sentinels import Sentinel
from tests.factories import NOON, header, subject

PIECES = ("interpreter", "arrays", "machine_code")


def night(number: int, *factors: float, machine: str = "bench", **changes: object) -> Sentinel:
    """A night on which each piece took a second, times its factor."""
    values = factors or (1.0,) * len(PIECES)
    own = {
        "machine": header().machine.model_copy(update={"machine": machine}),
        "subject": subject("3.3.7"), "versions": header().versions,
        "system": {"kernel": "6.1"}, "taken_at": NOON + timedelta(days=number),
        "times": {name: [0.9 * v, v, 1.2 * v] for name, v in zip(PIECES, values, strict=True)},
    }  # fmt: skip
    return Sentinel(**{**own, **changes})
