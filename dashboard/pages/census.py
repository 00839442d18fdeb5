"""What became of each graph of many, subject by subject: the pages below `census/`."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from observatory.benchmarks.catalogue import BACKENDS, FATES, MEMBERS, MODELS, SCENARIOS, Cell
from observatory.dashboard.colours import css_name
from observatory.dashboard.pages.cell_values import Flag
from observatory.dashboard.site_input import SiteInput, Spot
from observatory.store.reading.fates import Coverage, Fate
from observatory.store.records.sample import OpCoverage
from observatory.text.plain import clean, shorten
from observatory.text.words import first_of, known_first, meaning_of, several

MARKS = {
    "wrong": "W", "collided": "K", "raised": "R", "unstable": "S", "miss": "M", "uncacheable": "U",
    "uncached": "·", "python": "P", "hit": "✓", "right": "✓", "counted": "123",
    "absent": "\N{EN DASH}",
}  # fmt: skip
"""One letter for each fate: a column must be narrow. What is counted stands for itself."""
_WORDS = {
    "hit": ("comes from the cache", "come from the cache"),
    "right": ("is right", "are right"),
    "counted": ("is counted", "are counted"),
    "python": ("has Ops in Python", "have Ops in Python"),
    "uncached": ("is not cached", "are not cached"),
    "uncacheable": ("cannot be stored", "cannot be stored"),
    "miss": ("is compiled again", "are compiled again"),
    "unstable": ("has an unstable key", "have unstable keys"),
    "raised": ("raises", "raise"),
    "collided": ("collides", "collide"),
    "wrong": ("is wrong", "are wrong"),
    "absent": ("is not in this version", "are not in this version"),
}
_SEVERITY = {"hit": 0, "right": 0, "counted": 0, "raised": 2, "wrong": 3, "collided": 3}
"""How bad a fate is; 1 if it is not here."""
_NEUTRAL = ("absent", "uncached")
"""Fates that a graph has before there is something to change: most were not cached before 2.36."""
_IMPLEMENTATIONS = {"numba": "numba", "c": "C", "jax": "JAX", "": "no backend"}
"""What the backends are called that implement Ops."""
MOST_SUBJECTS = 24
_MOST = 2000
_NAMED = 12
_TOPICS = ("topics", "freezing")
"""The scenarios that the preset of topics takes; that of the census takes the others."""
_FEWEST_OF_A_KIND = 3
"""Graphs of a kind, on average, below which a table of kinds says less than the matrix."""
_NOTE = 240
_LABEL = 16


class Place(NamedTuple):
    """What a place of the matrix shows."""

    mark: str
    fate: str
    note: int | None
    """The index of its note; None without one."""
    moved: str
    """`lost` or `won` against the subject before; empty if neither."""

    def css(self, good: str) -> str:
        """The classes of its colour and frame; a place of the fate ``good``, as most are, has none.

        Without a class, the script says that its fate is that one.
        """
        colour = "" if self.fate == good else f"f-{self.fate}"
        return " ".join(filter(None, (colour, self.moved)))


class Share(NamedTuple):
    """How many graphs of one kind are good in one subject."""

    words: str
    fate: str
    """The worst of them; empty if all are good."""


class Row(NamedTuple):
    """One graph."""

    name: str
    places: tuple[Place, ...]
    changed: bool


@dataclass(frozen=True)
class _Column:
    """One subject, and its graphs by name."""

    label: str
    versions: str
    graphs: Mapping[str, Fate]
    scenario: str
    coverage: OpCoverage | None = None
    """The Ops that no graph has; None where that was not measured."""


class Untried(NamedTuple):
    """The Ops of one backend that no graph has."""

    backend: str
    """What the backend is called; of those that no backend implements, that they have none."""
    number: int
    of: str
    """Of how many, in words; empty if that is not known."""
    groups: tuple[tuple[str, str], ...]
    """The names that share a reason, and the reason; those without a reason first."""


@dataclass(frozen=True)
class CensusPage:
    """The page of one model with one backend."""

    model: str
    backend: str
    columns: tuple[_Column, ...]
    """The newest first."""

    @property
    def path(self) -> str:
        """Where the page is."""
        return f"census/{self.model}-{self.backend.lower()}.html"

    def summary(self) -> dict[str, Any]:
        """The newest subject in one line, for the first page."""
        newest = self.columns[0]
        return {
            "model": self.model, "backend": self.backend, "css": css_name(self.backend),
            "path": self.path, "verdict": self._verdict(),
            "standing": f"{shorten(newest.label, _LABEL)}: {_standing(newest.graphs.values())}",
        }  # fmt: skip

    def values(self, pages: Iterable[CensusPage]) -> dict[str, Any]:
        """The values of `census.html.j2`; ``pages``: all of them."""
        notes: dict[str, int] = {}
        every = {fate.fate for column in self.columns for fate in column.graphs.values()}
        newest = self.columns[0]
        again = [
            "observatory", "run", "--subject", clean(newest.label),
            "--preset", "topics" if newest.scenario in _TOPICS else "census",
            "--backend", self.backend, "--model", self.model,
        ]  # fmt: skip
        rows = list(self._rows(notes))
        return {
            "model": self.model,
            "backend": self.backend,
            "meaning": meaning_of(MODELS, self.model),
            "how": meaning_of(SCENARIOS, newest.scenario).replace("`", ""),
            "tabs": [
                (f"{one.model} {one.backend}", one.path, css_name(one.backend), one == self)
                for one in pages
            ],
            "columns": [(shorten(c.label, _LABEL), c.label, c.versions) for c in self.columns],
            "good": next((one for one in ("right", "counted") if one in every), "hit"),
            "kinds": self._kinds(),
            "rows": rows,
            "reasons": list(zip(notes, self._reasons_of(rows), strict=True)),
            "verdict": self._verdict(),
            "standing": _standing(newest.graphs.values()),
            "latest": shorten(newest.label, 60),
            "again": shlex.join(again),
            "unlike": list(_unlike(newest.graphs.values())),
            "story": list(self._story()),
            "untried": self._untried(),
            "legend": [(MARKS[fate], fate, FATES[fate]) for fate in known_first(every, FATES)],
        }

    def _untried(self) -> tuple[str, list[Untried]] | None:
        """The newest subject of which it is known, and the Ops that its graphs do not have."""
        known = ((c.label, c.coverage) for c in self.columns if c.coverage is not None)
        label, found = next(known, ("", None))
        if found is None:
            return None
        rows = [
            Untried(
                _IMPLEMENTATIONS.get(backend, clean(backend)), len(names),
                f"of {found.implemented.get(backend, 0)} " if backend else "",
                tuple(self._reasons(names)),
            )
            for backend in known_first({*found.implemented, ""}, list(_IMPLEMENTATIONS))
            if (names := [op for op, by in found.untried.items() if _is_of(backend, by)])
        ]  # fmt: skip
        return shorten(label, 60), rows

    def _reasons(self, names: Iterable[str]) -> Iterator[tuple[str, str]]:
        groups: dict[str, list[str]] = {}
        for name in sorted(names)[:_MOST]:
            groups.setdefault(MODELS[self.model].why_untried(name), []).append(clean(name))
        for reason, own in sorted(groups.items()):
            yield ", ".join(own), reason or "nobody has written a graph"

    def _kinds(self) -> list[tuple[str, list[Share]]]:
        """For each kind of graph, its share of good ones in each subject; none if kinds are few."""
        named = {name for column in self.columns for name in column.graphs}
        ordered = known_first(named, MEMBERS.get(self.model, ()))
        kinds = dict.fromkeys(map(_kind, ordered))
        if len(kinds) * _FEWEST_OF_A_KIND > len(ordered):
            return []
        by_column = [_by_kind(column.graphs.values()) for column in self.columns]
        return [(clean(kind), [_share(own.get(kind, ())) for own in by_column]) for kind in kinds]

    def _rows(self, notes: dict[str, int]) -> Iterator[Row]:
        named = {name for column in self.columns for name in column.graphs}
        for name in known_first(named, MEMBERS.get(self.model, ()))[:_MOST]:
            fates = [column.graphs.get(name) for column in self.columns]
            known = (one for one in fates if one is not None and one.fate not in _NEUTRAL)
            there = {(one.fate, one.value) for one in known}
            moves = _moves(fates)
            places = tuple(
                _place(one, moved, notes) for one, moved in zip(fates, moves, strict=True)
            )
            yield Row(clean(name), places, len(there) > 1)

    def _reasons_of(self, rows: Iterable[Row]) -> list[list[tuple[str, str]]]:
        """For each note, the graphs that have it and the subjects in which they do."""
        places: dict[int, dict[str, list[int]]] = {}
        for row in rows:
            for at, place in enumerate(row.places):
                if place.note is not None:
                    places.setdefault(place.note, {}).setdefault(row.name, []).append(at)
        found = []
        for _, own in sorted(places.items()):
            alike: dict[str, list[str]] = {}
            for name, columns in own.items():
                alike.setdefault(self._subjects(columns), []).append(name)
            found.append([(", ".join(names), subjects) for subjects, names in alike.items()])
        return found

    def _subjects(self, columns: Iterable[int]) -> str:
        """The subjects of these columns, the newest first; neighbours as "3.0.0 to 3.3.7"."""
        runs: list[list[str]] = []
        last = None
        for number in columns:
            if last is None or number != last + 1:
                runs.append([])
            runs[-1].append(shorten(self.columns[number].label, _LABEL))
            last = number
        return ", ".join(o[0] if len(o) == 1 else f"{o[-1]} to {o[0]}" for o in runs)

    def _verdict(self) -> Flag:
        found = Counter(one.fate for one in self.columns[0].graphs.values())
        if found["wrong"] or found["collided"]:
            return Flag("wrong values", "bad", "✗")
        lost = [m for row in self._rows({}) if (m := row.places[0].moved) == "lost"]
        if lost:
            return Flag(f"{several(len(lost), 'graph')} lost", "unknown")
        if raising := found["raised"]:
            return Flag(f"{several(raising, 'graph')} {_WORDS['raised'][raising != 1]}", "unknown")
        return Flag("nothing lost", "good", "✓")

    def _story(self) -> Iterator[tuple[str, str, str]]:
        """What changed at each subject: what is lost, and what is won; the newest first."""
        moves: dict[int, dict[str, list[str]]] = {}
        for row in self._rows({}):
            for at, place in enumerate(row.places):
                if place.moved:
                    how = place.fate if place.moved == "lost" else "won"
                    moves.setdefault(at, {}).setdefault(how, []).append(row.name)
        for at, found in sorted(moves.items()):
            won = found.pop("won", [])
            lost = [
                f"{_count(fate, found[fate])}: {first_of(found[fate], _NAMED)}"
                for fate in known_first(found, FATES)
            ]
            gained = f"{several(len(won), 'graph')}: {first_of(won, _NAMED)}" if won else ""
            yield shorten(self.columns[at].label, 60), "; ".join(lost), gained


def census_pages(observed: SiteInput) -> list[CensusPage]:
    """A page for each model and backend, caches with more that may fail first."""
    columns: dict[tuple[str, str], dict[str, tuple[Spot, _Column]]] = {}
    for spot, cells in observed.fates_at.items():
        subject = observed.subject(spot)
        for words, fates in cells.items():
            cell = Cell(*words.split())
            own = columns.setdefault((cell.model, cell.backend), {})
            # A subject that several machines measured is shown once.
            graphs = {one.name: one for one in fates if one.fate in FATES}
            versions = observed.versions(subject)
            covered = _coverage(observed.coverage_at.get(spot, {}), cell)
            column = _Column(clean(subject.label), versions, graphs, cell.scenario, covered)
            own.setdefault(subject.label, (spot, column))
    backends = sorted(BACKENDS, key=lambda one: BACKENDS[one].cache == "c_module")
    pages = []
    for model in known_first((model for model, _ in columns), MODELS):
        for backend in known_first((b for m, b in columns if m == model), backends):
            found = sorted(
                columns[model, backend].values(),
                key=lambda one: observed.subject(one[0]).date,
                reverse=True,
            )
            shown = tuple(column for _, column in found[:MOST_SUBJECTS])
            pages.append(CensusPage(model, backend, shown))
    return pages


def _coverage(found: Coverage, cell: Cell) -> OpCoverage | None:
    """What the sample said that filled the cache of a cell, or a like one of another launch."""
    like = (
        covered
        for words, covered in sorted(found.items())
        if words.split()[0] == cell.model and words.split()[2] == cell.backend
    )
    return next(like, None)


def _is_of(backend: str, backends: Sequence[str]) -> bool:
    """Whether an Op of these backends is listed under one; under none if it has none."""
    return backend in backends if backend else not backends


def _place(one: Fate | None, moved: str, notes: dict[str, int]) -> Place:
    if one is None:
        return Place("", "none", None, "")
    note = notes.setdefault(shorten(one.note, _NOTE), len(notes)) if one.note else None
    mark = MARKS[one.fate] if one.value is None else f"{one.value:,.0f}"
    return Place(mark, one.fate, note, moved)


def _kind(name: str) -> str:
    """The kind of a graph: the first word of its name; two if the graphs of a pair must differ."""
    words = name.split(".")
    return ".".join(words[: 2 if words[0] == "differ" else 1])


def _by_kind(graphs: Iterable[Fate]) -> dict[str, list[Fate]]:
    """The graphs that the subject has, by kind."""
    found: dict[str, list[Fate]] = {}
    for one in graphs:
        if one.fate != "absent":
            found.setdefault(_kind(one.name), []).append(one)
    return found


def _share(graphs: Sequence[Fate]) -> Share:
    if not graphs:
        return Share(MARKS["absent"], "absent")
    unlike = [one.fate for one in graphs if _SEVERITY.get(one.fate, 1)]
    if not unlike:
        return Share(f"{len(graphs)}", "")
    # FATES has the worst ones first.
    return Share(f"{len(graphs) - len(unlike)} of {len(graphs)}", known_first(unlike, FATES)[0])


def _moves(fates: Sequence[Fate | None]) -> list[str]:
    """For each subject, the newest first, whether the graph got worse or better there."""
    there = [
        (at, _SEVERITY.get(one.fate, 1))
        for at, one in enumerate(fates)
        if one is not None and one.fate != "absent"
    ]
    moves = [""] * len(fates)
    for (at, after), (_, before) in pairwise(there):
        moves[at] = "lost" if after > before else "won" if after == 0 < before else ""
    return moves


def _standing(graphs: Iterable[Fate]) -> str:
    """How many graphs have which fate, in one sentence."""
    found = Counter(one.fate for one in graphs)
    absent = found.pop("absent", 0)
    ordered = known_first(found, list(_WORDS))
    told = ", ".join(f"{found[fate]} {_WORDS[fate][found[fate] != 1]}" for fate in ordered)
    more = f"; {absent} more {_WORDS['absent'][absent != 1]}" if absent else ""
    return f"of {several(found.total(), 'graph')}, {told}{more}"


def _count(fate: str, names: Sequence[str]) -> str:
    return f"{len(names)} {_WORDS[fate][len(names) != 1]}"


def _unlike(graphs: Iterable[Fate]) -> Iterator[tuple[str, str, str, str]]:
    """The graphs that do not come from the cache: fate, mark, names and the reason they share."""
    groups: dict[tuple[str, str], list[str]] = {}
    for one in graphs:
        if _SEVERITY.get(one.fate, 1) and one.fate != "absent":
            groups.setdefault((one.fate, shorten(one.note, _NOTE)), []).append(clean(one.name))
    order = list(FATES)
    for (fate, note), names in sorted(
        groups.items(), key=lambda item: (order.index(item[0][0]), -len(item[1]), item[1])
    ):
        yield fate, MARKS[fate], ", ".join(names), note
