"""The navigation of the site: places, each with the pages that belong together."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """An entry of the navigation, and the key to press after `g`."""

    name: str
    key: str
    found: tuple[tuple[str, str, object], ...]
    """Each page that may belong to it: name, path, and whether it is there."""

    @property
    def pages(self) -> list[tuple[str, str]]:
        """The pages that are there: name and path."""
        return [(name, path) for name, path, there in self.found if there]

    @property
    def path(self) -> str:
        """The page that the entry leads to."""
        return self.pages[0][1]

    def has(self, page: str) -> bool:
        """Whether a page is one of its pages."""
        return any(path == page for _, path in self.pages)
