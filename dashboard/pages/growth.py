"""How builds grow with the size of their graphs: the page `growth.html`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from observatory.analyze.growth.families import JUDGED, LIMITED, Family, by_subject, families
from observatory.benchmarks.catalogue import BACKENDS, METRICS, Cell
from observatory.dashboard.drawing.geometry import Drawing
from observatory.dashboard.drawing.loglog import SizeLine, drawing
from observatory.dashboard.pages.cell_values import setting_of
from observatory.dashboard.site_input import SiteInput
from observatory.text.growth import growth_tables
from observatory.text.plain import clean, shorten
from observatory.text.tables import Table
from observatory.text.words import known_first

PATH = "growth.html"
MOST_SUBJECTS = 6
_DRAWN = 3
"""Subjects in one picture: the newest."""
_LABEL = 16


_Measured: TypeAlias = tuple[datetime, str, tuple[Family, ...]]
"""The date and the label of a subject, and its families."""


@dataclass(frozen=True)
class GrowthPart:
    """What the page says of one backend on one machine with one Python."""

    backend: str
    place: str
    """The machine and the Python; empty where there is no other."""
    slug: str
    tables: tuple[Table, ...]
    pictures: tuple[tuple[str, tuple[Drawing, ...]], ...]
    """The families, each with pictures of its work and of its CPU time."""


def growth_page(observed: SiteInput) -> dict[str, Any] | None:
    """The values of `growth.html.j2`; None if no growing graphs were measured."""
    found: dict[str, dict[str, list[_Measured]]] = {}
    for spot, cells in observed.growth_at.items():
        subject = observed.subject(spot)
        label = clean(subject.label)
        place = setting_of(observed.lines[spot[0]]).whole
        for words, builds in cells.items():
            own = found.setdefault(Cell(*words.split()).backend, {}).setdefault(place, [])
            own.append((subject.date, label, tuple(families(builds))))
    several = len({place for places in found.values() for place in places}) > 1
    parts = [
        _part(backend, place if several else "", f"{backend}-{number}" if number else backend, own)
        for backend in known_first(found, BACKENDS)
        for number, (place, own) in enumerate(sorted(found[backend].items()))
    ]
    return {"parts": parts} if parts else None


def _part(backend: str, place: str, slug: str, measured: Sequence[_Measured]) -> GrowthPart:
    ordered = sorted(measured, key=lambda one: one[0])
    subjects = list(by_subject((label, of) for _, label, of in ordered).items())
    grown = _with_short_labels(subjects[-MOST_SUBJECTS:])
    tables, pictures = growth_tables(backend, grown, place), _pictures(backend, slug, grown)
    return GrowthPart(backend, place, slug, tuple(tables), tuple(pictures))


def _with_short_labels(
    subjects: Sequence[tuple[str, Sequence[Family]]],
) -> dict[str, Sequence[Family]]:
    """By subject; labels are cut where they still differ then."""
    short = [shorten(label, _LABEL) for label, _ in subjects]
    return {
        label if short.count(cut) > 1 else cut: families
        for cut, (label, families) in zip(short, subjects, strict=True)
    }


def _pictures(
    backend: str, slug: str, grown: Mapping[str, Sequence[Family]]
) -> Iterator[tuple[str, tuple[Drawing, ...]]]:
    drawn = list(grown.items())[-_DRAWN:]
    for name in dict.fromkeys(family.name for _, of in drawn for family in of):
        own = [(label, one) for label, of in drawn for one in of if one.name == name]
        noun = own[0][1].noun
        found = [
            drawing(
                f"{slug}-{name}-{metric}".lower().replace(".", "-"),
                f"{metric} by {noun}, {name} with {backend}", METRICS[metric].unit,
                [SizeLine(label, f"b-s{number}", family.curve(metric).points)
                 for number, (label, family) in enumerate(own)],
            )
            for metric in (JUDGED, LIMITED)
        ]  # fmt: skip
        pictures = tuple(one for one in found if one is not None)
        if pictures:
            yield f"{name}, by {noun}", pictures
