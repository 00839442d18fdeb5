"""Pages as a browser would read them: what in them it would carry out."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path


class _Active(HTMLParser):
    """What of a page a browser would carry out."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element with code of its own, and an address that is code."""
        known = dict(attrs)
        if tag in ("iframe", "object", "embed") or (tag == "script" and "src" not in known):
            self.found.append(tag)
        self.found += [f"{tag} {name}" for name in known if name.startswith("on")]
        addresses = (known.get(name) or "" for name in ("href", "src", "action", "xlink:href"))
        self.found += [
            one for one in addresses if re.match(r"\s*(javascript|vbscript|data:text)", one, re.I)
        ]


def check_pages(directory: Path) -> None:
    """Raise AssertionError for a page below a directory that has code of its own."""
    for path in directory.rglob("*.html"):
        active = _Active()
        active.feed(path.read_text(encoding="utf-8"))
        assert not active.found, (path.name, active.found)
