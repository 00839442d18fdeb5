"""What readers see in place of the kind of a change: a phrase that "since 3.3.8" can follow."""

from __future__ import annotations

import re
from collections.abc import Mapping

from observatory.benchmarks.catalogue import CAUSES, METRICS
from observatory.text.plain import clean

FEWER = "fewer "
"""How the kind of a count that fell begins; the name of its metric follows."""
_MORE = "more "
"""The same of one that rose and has no cause."""
_OTHERS: Mapping[str, str] = {
    "worse under faults": "caches cope worse with faults",
    "more memory left": "more memory stays in use",
    "less memory left": "less memory stays in use",
    "stale": "nothing new was measured",
    "failed run": "a run failed",
}
"""The kinds that are neither causes nor counts, where the kind is not clear enough by itself."""


def title_of(kind: str) -> str:
    """The heading for a kind of change.

    >>> title_of("not reused"), title_of("fewer graphs_raised"), title_of("slow drift: more work")
    ('functions are not reused', 'more graphs work', 'slow drift: more work')
    """
    before, colon, last = kind.rpartition(": ")
    if last in CAUSES:
        last = CAUSES[last].title or last
    elif last.removeprefix(FEWER) in METRICS:
        last = _claim(FEWER, last.removeprefix(FEWER))
    elif last.removeprefix(_MORE) in METRICS:
        last = _claim(_MORE, last.removeprefix(_MORE))
    return clean(f"{before}{colon}{_OTHERS.get(last, last)}")


def _claim(change: str, metric: str) -> str:
    """The claim of the catalogue about a count that fell or rose, without the number."""
    known = METRICS[metric].fell if change == FEWER else METRICS[metric].rose
    if known is None:
        return f"{change}{metric.replace('_', ' ')}"
    return re.sub(r"\{\}( s)? ", "", known[1]).removeprefix("HEAD ")
