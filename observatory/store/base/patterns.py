"""Patterns of names, which may hold brackets and question marks: only * is special."""

from __future__ import annotations

import re


def matches(name: str, pattern: str) -> bool:
    """Whether a pattern fits the whole of a name; * stands for any text."""
    like = ".*".join(map(re.escape, pattern.split("*")))
    return re.fullmatch(like, name, re.DOTALL) is not None
