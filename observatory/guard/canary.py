"""What the siblings of a canary returned: right, wrong and whose numbers, crashed, not judged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from benchmarks.catalogue import LAUNCHES, MEMBERS, SIBLINGS, Cell
from observatory.analyze.tables import Table
from observatory.store.records.sample import Sample

Fate = Literal["wrong", "crashed", "shared symbols", "not judged", "right"]
FATES: tuple[Fate, ...] = ("wrong", "crashed", "shared symbols", "not judged", "right")
"""Worst first."""
_MOST_NOTES = 20


@dataclass(frozen=True)
class Finding:
    """One cell of a canary."""

    cell: Cell
    fate: Fate
    said: str
    """For the table: a few words."""
    notes: tuple[str, ...] = ()
    """Sentences: who returned whose numbers, or what happened instead."""


def judge(sample: Sample) -> Finding:
    """What a sample of siblings says. Wrong values outrank a crash: nobody notices them."""
    cell = sample.cell
    wrong = [check for check in sample.checks if check.wrong]
    if wrong:
        notes = tuple(f"{check.name}: {check.note or 'not the reference'}" for check in wrong)
        return Finding(cell, "wrong", f"{len(wrong)} of {len(sample.checks)} WRONG", notes)
    why = sample.failure.message if sample.failure is not None else sample.status
    if sample.status == "unavailable":
        return Finding(cell, "not judged", "not judged", (why,))
    if sample.status != "ok":
        return Finding(cell, "crashed", "CRASHED", (why,))
    if shared := sample.metrics.get("collided_symbols"):
        note = f"{_several(shared, 'symbol')} with different bodies: right by chance"
        return Finding(cell, "shared symbols", f"right, {shared:g} SHARED", (note,))
    return Finding(cell, "right", "right")


def worst(findings: Iterable[Finding]) -> Fate:
    """The worst of the fates; "not judged" where there is nothing."""
    fates = {finding.fate for finding in findings}
    return next((fate for fate in FATES if fate in fates), "not judged")


def table(label: str, findings: Sequence[Finding]) -> Table:
    """Arrangement and launch by model; what was not right is told below, worst first."""
    by_cell = {finding.cell: finding for finding in findings}
    models = [model for model in MEMBERS if any(cell.model == model for cell in by_cell)]
    rows = []
    for scenario in SIBLINGS:
        for launch in LAUNCHES:
            cells = [Cell(model, scenario, "NUMBA", launch) for model in models]
            if any(cell in by_cell for cell in cells):
                said = (by_cell[cell].said if cell in by_cell else "" for cell in cells)
                rows.append((scenario, launch, *said))
    return Table(
        f"{label}: siblings that share a cache",
        ("scenario", "launch", *models),
        tuple(rows),
        tuple(_footnotes(findings)),
    )


def _footnotes(findings: Sequence[Finding]) -> Iterable[str]:
    """Each note once, with the first place where it was seen and how many others there are."""
    places: dict[tuple[str, str], list[str]] = {}
    for finding in sorted(findings, key=lambda finding: FATES.index(finding.fate)):
        for note in finding.notes:
            place = f"{finding.cell.scenario} {finding.cell.launch}"
            places.setdefault((finding.cell.model, note), []).append(place)
    for (model, note), where in list(places.items())[:_MOST_NOTES]:
        more = f" and {_several(len(where) - 1, 'more cell')}" if len(where) > 1 else ""
        yield f"{model}, {note} ({where[0]}{more})"
    if len(places) > _MOST_NOTES:
        yield f"and {len(places) - _MOST_NOTES} more: every sample is in the journal"


def sentence(label: str, findings: Sequence[Finding]) -> str:
    """The verdict in a sentence."""
    parts = [
        words.format(_several(number, "cell"))
        for fate, words in _WORDS.items()
        if (number := sum(finding.fate == fate for finding in findings))
    ]
    return f"{label}: {', '.join(parts) or 'nothing was measured'}."


_WORDS: dict[Fate, str] = {
    "wrong": "WRONG NUMBERS in {}",
    "crashed": "CRASHED in {}",
    "shared symbols": "symbols shared in {}",
    "not judged": "{} not judged",
    "right": "right in {}",
}


def _several(number: float, noun: str) -> str:
    return f"{number:g} {noun}" if number == 1 else f"{number:g} {noun}s"
