"""Spans of time as options take them: 36h, 30d, 8w."""

from __future__ import annotations

import re
from datetime import timedelta

from observatory.analyze.series_keys import SelectionError

_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_SPAN = re.compile(r"(\d{1,4})([hdw])")


def is_span(text: str) -> bool:
    """Whether a text is a span of time."""
    return _SPAN.fullmatch(text) is not None


def span(text: str, option: str = "") -> timedelta:
    """The span that a text says. Raises SelectionError, which names the option if it is given."""
    found = _SPAN.fullmatch(text)
    if found is None:
        raise SelectionError(
            f"{option} {text!r} is not a length of time; write it like 36h, 30d or 8w".lstrip()
        )
    return int(found[1]) * _UNITS[found[2]]
