"""What the record says of an error: without the directories of this machine."""

from __future__ import annotations

import sys
from pathlib import Path

_PLACES = (sys.prefix, str(Path(__file__).absolute().parent.parent))
"""The environment and what holds the benchmarks. PyTensor adds tracebacks to its messages."""
_LONGEST = 100_000
"""Characters of a message that are read to make one line of it."""


def message_of(error: BaseException, most: int) -> str:
    """Return the type and the message of an error, at most so many characters."""
    text = f"{type(error).__name__}: {error}"
    for place in _PLACES:
        text = text.replace(f"{place}/", "")
    return text[:most]


def one_line(error: BaseException) -> str:
    """Return type and message as one line of at most 1,000 characters; numba's fill pages."""
    return " ".join(message_of(error, _LONGEST).split())[:1000]
