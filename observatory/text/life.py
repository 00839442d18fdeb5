"""What an alert says about runs, how it ended, and its notes: sentences and their templates."""

from __future__ import annotations

from collections.abc import Sequence

from observatory.text.words import first_of

RUN_LATE = "nothing was measured on {} since {:%Y-%m-%d %H:%M} UTC"
"""The machine and environment, and when its newest sample was taken."""
OVER_SINCE = "it is over since {}"
"""The subject that undid the change."""
PART_OF = "it is part of alert {} now"
"""The id of the other alert."""
MEASURED_AGAIN = "measured again"
FAILS_NO_MORE = "the newest run no longer fails in this way"
WITHDRAWN = "withdrawn: with the values measured since, no change is seen there any more"
UNKNOWN = "{}: whether it still holds is unknown; acknowledge it if this is intended"
"""Why it is unknown: one of the next two."""
SERIES_GONE = "its benchmarks are no longer in the results (renamed or removed)"
SUBJECT_GONE = "{} is no longer in the results"
_NAMED = 3


def run_failed(label: str, how: str, cells: Sequence[str]) -> str:
    """Samples of the newest subject that failed in one way."""
    return f"{label}: {how} ({first_of(cells, _NAMED, 'more cells')})"


def ended(series: int, of: int, label: str) -> str:
    """A note: some series of an alert, or its only one, have no value of newer subjects."""
    many = f"{series} of its {of} series have" if of > 1 else "it has"
    return f"{many} no value since {label}: not measured, failed, renamed or removed"
