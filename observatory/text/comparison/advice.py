"""What to do about a cause or a time, from the catalogue."""

from __future__ import annotations

from benchmarks.catalogue import CAUSES, METRICS
from observatory.text.document import Words, written


def about_cause(kind: str) -> Words | None:
    """What to do about a cause, in a sentence or more; None if this version does not know it."""
    return written(" ".join(CAUSES[kind].advice.split())) if kind in CAUSES else None


def about_time(metric: str) -> Words | None:
    """What to do about a time that got worse without a known cause; None if there is no advice."""
    advice = METRICS[metric].advice if metric in METRICS else ""
    return written(advice) if advice else None
