"""Searches for what made a change. FOR TESTS ONLY: no value here was measured."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from observatory.store.records.alerts import At
from observatory.store.records.comparison import Cause
from observatory.store.records.searches import BlamedCommit, Culprit, Probe, Searched
from tests.factories import NOON, WARM

GOOD, BAD = (At(label=f"3.0.{n}", commit=str(n) * 40, date=NOON) for n in (1, 2))
COMMIT = BlamedCommit(
    hash="a" * 40, author="Ada", date=datetime(2026, 5, 4, tzinfo=UTC), title="A new *key*",
    pull_request=77, files=["pytensor/a.py", "b.py"],
)  # fmt: skip
CAUSE = Cause(id="cause-1", kind="unstable keys", sentence="keys differ", cells=[WARM])


def culprit(**changes: Any) -> Culprit:
    """A confirmed culprit of one commit."""
    own = {
        "before": GOOD, "after": BAD, "low": 0.0, "high": 4.0, "again": (0.0, 4.0),
        "certainty": "confirmed", "commits": [COMMIT], "causes": [CAUSE],
    }  # fmt: skip
    return Culprit(**{**own, **changes})


def found(**changes: Any) -> Searched:
    """A search along two subjects with one culprit."""
    own = {
        "observatory": "0.1", "machine": "bench", "cell": WARM, "metric": "cache_misses",
        "good": GOOD, "bad": BAD, "subjects": 2, "measured": 2, "samples": 8, "seconds": 90.0,
        "probes": [Probe(at=GOOD, value=0.0), Probe(at=BAD, value=4.0)], "taken_at": NOON,
        "culprits": [culprit()],
    }  # fmt: skip
    return Searched(**{**own, **changes})
