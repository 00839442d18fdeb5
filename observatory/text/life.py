"""What an alert says about runs, how it ended, and its notes. Pure: values in, a sentence out."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

MEASURED_AGAIN = "measured again"
FAILS_NO_MORE = "the newest run no longer fails in this way"
WITHDRAWN = "withdrawn: with the values measured since, no change is seen there any more"
REMOVED = "its benchmarks are no longer in the results (renamed or removed)"
_NAMED = 3


def run_failed(label: str, how: str, cells: Sequence[str]) -> str:
    """Samples of the newest subject that failed in one way."""
    more = f" and {len(cells) - _NAMED} more cells" if len(cells) > _NAMED else ""
    return f"{label}: {how} ({', '.join(cells[:_NAMED])}{more})"


def run_late(where: str, measured_at: datetime) -> str:
    """A machine that has measured nothing for too long. ``measured_at``: in UTC."""
    return f"nothing was measured on {where} since {measured_at:%Y-%m-%d %H:%M} UTC"


def over_since(label: str) -> str:
    """A change that a later subject has undone."""
    return f"it is over since {label}"


def part_of(alert: str) -> str:
    """An alert whose change is now found as part of another."""
    return f"it is part of alert {alert} now"


def removed(label: str) -> str:
    """A subject whose results are gone."""
    return f"{label} is no longer in the results"


def unknown(why: str) -> str:
    """A note: nobody can say whether an alert holds. ``why``: `REMOVED` or `removed`."""
    return f"{why}: whether it still holds is unknown; acknowledge it if this is intended"


def ended(series: int, of: int, label: str) -> str:
    """A note: some series of an alert, or its only one, have no value of newer subjects."""
    many = f"{series} of its {of} series have" if of > 1 else "it has"
    return f"{many} no value since {label}: not measured, failed, renamed or removed"
