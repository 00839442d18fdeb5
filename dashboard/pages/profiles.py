"""Which pairs of subjects have a page with flame graphs, and of which cell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from observatory.analyze.profiles.cells import in_common
from observatory.benchmarks.catalogue import Cell
from observatory.dashboard.pages.flame import flame_values
from observatory.dashboard.site_input import SiteInput, Spot, spot_name
from observatory.store.records.alerts import Alert
from observatory.text.alerts import with_page
from observatory.text.plain import begun
from observatory.text.profiles import difference_sentence

_NEWEST = 10
"""Of each line, so many of the newest subjects are shown against the one before."""
_MOST = 100
_SENTENCE = 400


@dataclass(frozen=True)
class ProfilePage:
    """The page of one cell of two subjects."""

    base: Spot
    head: Spot
    cell: Cell
    sentence: str
    """What HEAD does more; empty if that is not known."""

    @property
    def path(self) -> str:
        """The path of the page in the site."""
        where = "-".join((self.cell.model, self.cell.scenario, self.cell.backend, self.cell.launch))
        return f"profiles/{spot_name(self.base)}--{spot_name(self.head)}-{where}.html"

    def values(self, observed: SiteInput) -> dict[str, Any]:
        """The values of `flame.html.j2`."""
        old, new = (observed.profiles_at(spot)[self.cell] for spot in (self.base, self.head))
        labels = observed.subject(self.base).label, observed.subject(self.head).label
        return {
            "flame": flame_values(self.cell, labels, old, new),
            "base": spot_name(self.base), "head": spot_name(self.head),
        }  # fmt: skip


class ProfilePages:
    """The pages with flame graphs of a site: of alerts, and of the newest subjects."""

    def __init__(self, observed: SiteInput) -> None:
        self._observed = observed
        self._shared: dict[tuple[Spot, Spot], list[Cell]] = {}
        self._made: dict[tuple[Spot, Spot, Cell], ProfilePage] = {}
        self.of_alerts: dict[str, ProfilePage] = {}
        """By the id of the alert: a cell of it, its last good and its first bad subject."""
        self.of_pairs: dict[tuple[Spot, Spot], ProfilePage] = {}
        """By BASE and HEAD: the cell that changed most."""
        for alert in with_page(observed.alerts):
            for base, head, cell in self._places(alert):
                if cell in self._in_common(base, head) and (page := self._page(base, head, cell)):
                    self.of_alerts[alert.id] = page
                    break
        for number, line in enumerate(observed.lines):
            last = len(line.subjects) - 1
            for place in range(last, max(0, last - _NEWEST), -1):
                base, head = (number, place - 1), (number, place)
                shared = self._in_common(base, head)
                if shared and (page := self._page(base, head, shared[0])):
                    self.of_pairs[base, head] = page

    def pages(self) -> list[ProfilePage]:
        """Every page once."""
        return list(self._made.values())

    def _places(self, alert: Alert) -> Iterator[tuple[Spot, Spot, Cell]]:
        """The subjects around an alert, and its cells, the one that changed most first."""
        spots = self._observed.spots
        for one in alert.series:
            words = one.benchmark.split()
            if alert.last_good is None or len(words) != 4:
                continue
            ends = (
                spots.get((one.machine, one.env_name, at.commit))
                for at in (alert.last_good, alert.first_bad)
            )
            base, head = ends
            if base is not None and head is not None:
                yield base, head, Cell(*words)

    def _in_common(self, base: Spot, head: Spot) -> list[Cell]:
        if (base, head) not in self._shared:
            before, after = map(self._observed.profiles_at, (base, head))
            self._shared[base, head] = in_common(before, after)
        return self._shared[base, head]

    def _page(self, base: Spot, head: Spot, cell: Cell) -> ProfilePage | None:
        """The page; None if there are too many others."""
        key = base, head, cell
        if key not in self._made and len(self._made) < _MOST:
            before, after = (self._observed.profiles_at(spot)[cell] for spot in (base, head))
            sentence = begun(difference_sentence(before, after), _SENTENCE)
            self._made[key] = ProfilePage(base, head, cell, sentence)
        return self._made.get(key)
