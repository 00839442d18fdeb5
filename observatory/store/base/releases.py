"""How a release is written, and how its tag is called in PyTensor's repository. Pure."""

from __future__ import annotations

import re

WRITTEN = r"\d+(?:\.\d+)+(?:(?:a|b|rc|\.post|\.dev)\d+)?"
"""A regular expression without groups."""
_RELEASE = re.compile(WRITTEN)
TAGGED = "rel-"
"""How each tag of a release begins."""


def is_release(word: str) -> bool:
    """Whether a word is the number of a release.

    >>> is_release("3.3.8"), is_release("3.4.0rc1"), is_release("3"), is_release("0a1b2c3d")
    (True, True, False, False)
    """
    return _RELEASE.fullmatch(word) is not None


def tag_of(release: str) -> str:
    """The tag of a release.

    >>> tag_of("3.3.8")
    'rel-3.3.8'
    """
    return f"{TAGGED}{release}"
