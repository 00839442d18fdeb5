"""Patterns of names, which may hold brackets and question marks: only * is special."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def matches(name: str, pattern: str) -> bool:
    """Whether a pattern fits the whole of a name; * stands for any text."""
    like = ".*".join(map(re.escape, pattern.split("*")))
    return re.fullmatch(like, name, re.DOTALL) is not None


def contains(name: str, pattern: str | None) -> bool:
    """Whether a pattern fits any part of a name; None fits every name."""
    return pattern is None or matches(name, f"*{pattern}*")


def chosen(names: Iterable[str], patterns: Sequence[str]) -> list[str]:
    """The names that any of the patterns fits, in their order."""
    return [name for name in names if any(matches(name, one) for one in patterns)]
