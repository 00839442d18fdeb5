"""The text of comments and issues: within GitHub's limit, and recognised by a digest."""

from __future__ import annotations

import hashlib
import re

from observatory.text.comment import LIMIT

SETTLING = 3.0
"""Seconds after which a comment or an issue that was written is in GitHub's lists."""
_ROOM = 400
_FENCE = re.compile(r"^(`{3,})", re.MULTILINE)


def digest(text: str) -> str:
    """A hash of 16 characters.

    >>> digest("The same") == digest("The same"), digest("The same") == digest("Another")
    (True, False)
    """
    return hashlib.blake2b(text.encode(errors="replace"), digest_size=8).hexdigest()


def unix(text: str | None) -> str:
    """A text with Unix line ends; a text that was edited in a browser has others."""
    return (text or "").replace("\r\n", "\n")


def cut(text: str, most: int = LIMIT) -> str:
    """The text if it has at most ``most`` characters; else its beginning, closed, and a note.

    The renderers keep to the limit by omitting details. This is the last resort, because GitHub
    refuses longer texts (more than 65,536 characters).
    """
    if len(text) <= most:
        return text
    kept = text[: most - _ROOM]
    kept = kept[: max(kept.rfind("\n"), 0)] or kept
    fences = _FENCE.findall(kept)
    closed = f"\n{fences[-1]}" if len(fences) % 2 else ""
    folds = kept.count("<details>") - kept.count("</details>")
    closed += "\n\n</details>" * max(0, min(folds, 10))
    return f"{kept}{closed}\n\n*Cut here, because GitHub accepts at most {most:,} characters.*\n"
