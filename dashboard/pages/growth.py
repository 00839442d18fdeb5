"""How builds grow with the size of their graphs: the page `growth.html`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.catalogue import BACKENDS, METRICS, Cell
from dashboard.drawing.geometry import Drawing
from dashboard.drawing.loglog import SizeLine, drawing
from dashboard.site_input import SiteInput
from observatory.analyze.growth.families import JUDGED, LIMITED, Family, families
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
    by_backend: dict[str, dict[str, tuple[Any, tuple[Family, ...]]]] = {}
    for spot, cells in observed.growth_at.items():
        subject = observed.subject(spot)
        for words, builds in cells.items():
            own = by_backend.setdefault(Cell(*words.split()).backend, {})
            # A subject that several machines measured is shown once.
            label = shorten(clean(subject.label), _LABEL)
            own.setdefault(label, (subject.date, tuple(families(builds))))
    parts = [_part(name, by_backend[name]) for name in known_first(by_backend, BACKENDS)]
    return {"parts": parts} if parts else None


def _part(backend: str, subjects: Mapping[str, tuple[Any, tuple[Family, ...]]]) -> GrowthPart:
    ordered = sorted(subjects.items(), key=lambda item: item[1][0])[-MOST_SUBJECTS:]
    grown = {label: of for label, (_, of) in ordered}
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
