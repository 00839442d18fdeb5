"""How builds grow with the size of their graphs: the page `growth.html`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from observatory.analyze.growth.families import JUDGED, LIMITED, Family, by_subject, families
from observatory.benchmarks.catalogue import BACKENDS, METRICS, Cell
from observatory.dashboard.drawing.geometry import Drawing
from observatory.dashboard.drawing.loglog import SizeLine, drawing
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


@dataclass(frozen=True)
class GrowthPart:
    """What the page says of one backend."""

    backend: str
    tables: tuple[Table, ...]
    pictures: tuple[tuple[str, tuple[Drawing, ...]], ...]
    """The families, each with pictures of its work and of its CPU time."""


def growth_page(observed: SiteInput) -> dict[str, Any] | None:
    """The values of `growth.html.j2`; None if no growing graphs were measured."""
    by_backend: dict[str, list[tuple[Any, str, tuple[Family, ...]]]] = {}
    for spot, cells in observed.growth_at.items():
        subject = observed.subject(spot)
        label = shorten(clean(subject.label), _LABEL)
        for words, builds in cells.items():
            own = by_backend.setdefault(Cell(*words.split()).backend, [])
            own.append((subject.date, label, tuple(families(builds))))
    parts = [_part(name, by_backend[name]) for name in known_first(by_backend, BACKENDS)]
    return {"parts": parts} if parts else None


def _part(backend: str, measured: Sequence[tuple[Any, str, tuple[Family, ...]]]) -> GrowthPart:
    ordered = sorted(measured, key=lambda one: one[0])
    subjects = list(by_subject((label, of) for _, label, of in ordered).items())
    grown = dict(subjects[-MOST_SUBJECTS:])
    return GrowthPart(
        backend, tuple(growth_tables(backend, grown)), tuple(_pictures(backend, grown))
    )


def _pictures(
    backend: str, grown: Mapping[str, Sequence[Family]]
) -> Iterator[tuple[str, tuple[Drawing, ...]]]:
    drawn = list(grown.items())[-_DRAWN:]
    for name in dict.fromkeys(family.name for _, of in drawn for family in of):
        own = [(label, one) for label, of in drawn for one in of if one.name == name]
        noun = own[0][1].noun
        found = [
            drawing(
                f"{backend}-{name}-{metric}".lower().replace(".", "-"),
                f"{metric} by {noun}, {name} with {backend}", METRICS[metric].unit,
                [SizeLine(label, f"b-s{number}", family.curve(metric).points)
                 for number, (label, family) in enumerate(own)],
            )
            for metric in (JUDGED, LIMITED)
        ]  # fmt: skip
        pictures = tuple(one for one in found if one is not None)
        if pictures:
            yield f"{name}, by {noun}", pictures
