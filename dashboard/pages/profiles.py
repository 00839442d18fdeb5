"""Which pairs of subjects have a page with flame graphs, and of which cell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from observatory.analyze.history.alerts import FAILED, STALE
from observatory.analyze.profiles.cells import Unit, in_common, units_of
from observatory.benchmarks.catalogue import BACKENDS, BUILDS, LAUNCHES, MODELS, SCENARIOS, Cell
from observatory.dashboard.pages.flame import flame_values
from observatory.dashboard.site_input import SiteInput, Spot, spot_name
from observatory.store.records.alerts import Alert, SeriesChange
from observatory.text.alerts import with_page
from observatory.text.plain import begun, clean, shorten
from observatory.text.profiles import difference_sentence
from observatory.text.words import listed

_NEWEST = 30
"""Of each line, so many of the newest subjects are shown against the one before. A page has about
170 kB, and takes about 0.7 s."""
_MOST = 100
_SENTENCE = 400
_NAMED = 60
_AXES = (MODELS, SCENARIOS, BACKENDS, LAUNCHES)
_OTHER_CELL = (
    "The cells of this alert have no profile. This is the build with {} that changed most."
)


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


@dataclass(frozen=True)
class ProfileOfAlert:
    """What the page of an alert shows of the work of its builds."""

    page: ProfilePage | None
    """None if there is no flame graph."""
    note: str = ""
    """Why there is none, or why it is that of another cell."""


class ProfilePages:
    """The pages with flame graphs of a site: of alerts, and of the newest subjects."""

    def __init__(self, observed: SiteInput) -> None:
        self._observed = observed
        self._shared: dict[tuple[Spot, Spot], list[Cell]] = {}
        self._made: dict[tuple[Spot, Spot, Cell], ProfilePage] = {}
        self._profiled: dict[Spot, dict[Cell, list[Unit]]] = {}
        self.of_alerts: dict[str, ProfileOfAlert] = {}
        """By the id of the alert: a cell of it, its last good and its first bad subject."""
        self.of_pairs: dict[tuple[Spot, Spot], ProfilePage] = {}
        """By BASE and HEAD: the cell that changed most."""
        for alert in with_page(observed.alerts):
            if (found := self._of_alert(alert)) is not None:
                self.of_alerts[alert.id] = found
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

    def recorded(self) -> Mapping[Spot, Sequence[str]]:
        """The cells of which subjects have a profile of calls: "radon cold C fork".

        These are the subjects that `observatory profile` finds by their label: it is the only one
        of their machine. Seconds alone do not count, because compaction removes them.
        """
        lines = self._observed.lines
        labels = Counter((line.machine, one.label) for line in lines for one in line.subjects)
        found = {}
        for spot, cells in sorted(self._profiled.items()):
            label = self._observed.subject(spot).label
            alone = labels[lines[spot[0]].machine, label] == 1
            if alone and clean(label) == label and not label.startswith("-"):
                found[spot] = [str(cell) for cell, units in cells.items() if "calls" in units]
        return found

    def _of_alert(self, alert: Alert) -> ProfileOfAlert | None:
        """What its page shows; None if it is about a run, or about another project."""
        cells = list(dict.fromkeys(_cells(alert)))
        if not cells:
            about_run = alert.series or alert.kind in (STALE, FAILED)
            if about_run or not self._observed.measured_at:
                return None
            return _without("this alert is not about a build")
        if alert.last_good is None:
            return _without("no earlier subject was good, so there are no two builds to compare")
        places = list(self._places(alert))
        backends = list(dict.fromkeys(cell.backend for cell in cells))
        own = (one for one in places if one[2] in self._in_common(*one[:2]))
        found, note = next(own, None), ""
        if found is None:
            found = next(self._others(places, backends), None)
            alone = len(backends) == 1
            note = _OTHER_CELL.format("the same backend" if alone else "one of its backends")
        if found is not None:
            page = self._page(*found)
            return None if page is None else ProfileOfAlert(page, note)
        ends = [shorten(at.label, _NAMED) for at in (alert.last_good, alert.first_bad)]
        if not places:
            return _without(f"one of {listed(ends)} is no longer in these results")
        sides = zip(*((base, head) for base, head, _ in places), strict=True)
        lacking = [
            label
            for label, spots in zip(ends, sides, strict=True)
            if not any(self._builds(spot, backends) for spot in spots)
        ]
        using = listed(backends, "or")
        if not lacking:
            return _without(f"no build with {using} has a profile in both subjects")
        return _without(f"no build of {listed(lacking, 'or')} with {using} was traced")

    def _others(
        self, places: Iterable[tuple[Spot, Spot, Cell]], backends: Sequence[str]
    ) -> Iterator[tuple[Spot, Spot, Cell]]:
        """Builds with these backends of which both subjects have a profile."""
        for base, head in dict.fromkeys((base, head) for base, head, _ in places):
            for cell in self._in_common(base, head):
                if cell.backend in backends and cell.scenario in BUILDS:
                    yield base, head, cell

    def _builds(self, spot: Spot, backends: Sequence[str]) -> bool:
        """Whether a subject has a profile of a build with one of these backends."""
        return any(
            cell.backend in backends and cell.scenario in BUILDS for cell in self._cells_at(spot)
        )

    def _places(self, alert: Alert) -> Iterator[tuple[Spot, Spot, Cell]]:
        """The subjects around an alert, and its cells, the one that changed most first."""
        spots, good = self._observed.spots, alert.last_good
        for one in alert.series:
            cell = _cell(one)
            if good is None or cell is None:
                continue
            ends = (
                spots.get((one.machine, one.env_name, at.commit)) for at in (good, alert.first_bad)
            )
            base, head = ends
            if base is not None and head is not None:
                yield base, head, cell

    def _in_common(self, base: Spot, head: Spot) -> list[Cell]:
        if (base, head) not in self._shared:
            before, after = map(self._observed.profiles_at, (base, head))
            self._cells_at(base)
            self._cells_at(head)
            self._shared[base, head] = in_common(before, after)
        return self._shared[base, head]

    def _cells_at(self, spot: Spot) -> Mapping[Cell, Sequence[Unit]]:
        """The cells of which a subject has a profile, and in which units."""
        if spot not in self._profiled:
            found = self._observed.profiles_at(spot)
            self._profiled[spot] = {cell: units_of(one) for cell, one in found.items()}
        return self._profiled[spot]

    def _page(self, base: Spot, head: Spot, cell: Cell) -> ProfilePage | None:
        """The page; None if there are too many others."""
        key = base, head, cell
        if key not in self._made and len(self._made) < _MOST:
            before, after = (self._observed.profiles_at(spot)[cell] for spot in (base, head))
            sentence = begun(difference_sentence(before, after), _SENTENCE)
            self._made[key] = ProfilePage(base, head, cell, sentence)
        return self._made.get(key)


def _cell(one: SeriesChange) -> Cell | None:
    """The cell of a series; None if it is not one of ours."""
    words = one.benchmark.split()
    ours = len(words) == len(_AXES) and all(
        word in own for word, own in zip(words, _AXES, strict=True)
    )
    return Cell(*words) if ours else None


def _cells(alert: Alert) -> Iterator[Cell]:
    yield from filter(None, map(_cell, alert.series))


def _without(reason: str) -> ProfileOfAlert:
    return ProfileOfAlert(None, f"There is no flame graph: {reason}.")
