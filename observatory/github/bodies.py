"""Bodies of comments and issues: short enough, and known again by what they were made of."""

from __future__ import annotations

import hashlib
import re

LIMIT = 65_000
"""Characters; GitHub refuses bodies of more than 65,536."""
_NOTE = "*Cut here: GitHub holds no more than {} characters.*"
_ROOM = 400
_FENCE = re.compile(r"^(`{3,})", re.MULTILINE)


def digest(text: str) -> str:
    """What tells one text from another: 16 characters.

    >>> digest("The same") == digest("The same"), digest("The same") == digest("Another")
    (True, False)
    """
    return hashlib.blake2b(text.encode(errors="replace"), digest_size=8).hexdigest()


def unix(text: str | None) -> str:
    """A body with the ends of lines that we write: a browser that edits it sends others."""
    return (text or "").replace("\r\n", "\n")


def cut(text: str, most: int = LIMIT) -> str:
    """The text if it is short enough; else its beginning, nothing left open, and a note.

    The renderers keep to the limit by leaving out what matters least. This is for whatever they
    should ever let through: GitHub would answer 422, and nobody would read anything.
    """
    if len(text) <= most:
        return text
    kept = text[: most - _ROOM]
    kept = kept[: max(kept.rfind("\n"), 0)] or kept
    fences = _FENCE.findall(kept)
    closed = f"\n{fences[-1]}" if len(fences) % 2 else ""
    folds = kept.count("<details>") - kept.count("</details>")
    closed += "\n\n</details>" * max(0, min(folds, 10))
    return f"{kept}{closed}\n\n{_NOTE.format(f'{most:,}')}\n"
