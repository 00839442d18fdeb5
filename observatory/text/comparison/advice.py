"""What to do next about a cause or a time, as the catalogue says it."""

from __future__ import annotations

from benchmarks.catalogue import CAUSES, METRICS
from observatory.text.document import Words, written


def about_cause(kind: str) -> Words | None:
    """What to do about a cause of this kind: a sentence that follows "Next: ".

    None for a kind that this version does not know.
    """
    return written(" ".join(CAUSES[kind].advice.split())) if kind in CAUSES else None


def about_time(metric: str) -> Words | None:
    """The same for a time that got worse and that no cause explains; None if there is nothing."""
    advice = METRICS[metric].advice if metric in METRICS else ""
    return written(advice) if advice else None
