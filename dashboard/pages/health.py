"""How far the numbers can be trusted: noise, failed and missing cells, environments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from observatory.analyze.chance import FEWEST
from observatory.analyze.comparison.rules import COUNTED, JUDGED
from observatory.dashboard.drawing.panels import Table
from observatory.dashboard.pages.summary import Newest
from observatory.dashboard.site_input import SiteInput
from observatory.text import units
from observatory.text.plain import clean, shorten
from observatory.text.sentinel import changed, verdict
from observatory.text.words import several

_MOST = 200
_NOTES = {
    "failed": "Samples that failed",
    "disagrees": "Counts that differ between runs of one subject",
    "unavailable": "Cells that the subject cannot run",
    "absent": "Metrics without a value",
}
_PACKAGES_SHOWN = 40
_NIGHTS = 30


@dataclass(frozen=True)
class LineView:
    """One machine and environment of one kind."""

    name: str
    era: str
    subjects: str
    newest: str
    date: str
    series: str
    judged: str
    noise: str
    alerting: str


def lines_of(
    observed: SiteInput, noises: Sequence[float | None] | None = None
) -> Iterator[LineView]:
    """Every line in words, those measured last first; ``noises``: those of the series, if known."""
    noises = _noises(observed) if noises is None else noises
    numbers = defaultdict(list)
    for number, track in enumerate(observed.tracks):
        numbers[observed.line_of(track)].append(number)
    order = sorted(range(len(observed.lines)), key=lambda n: observed.lines[n].subjects[-1].date)
    for number in reversed(order):
        line, own = observed.lines[number], [observed.tracks[one] for one in numbers[number]]
        last = line.subjects[-1]
        judged = [track for track in own if track.judgement in ("judged", "exact")]
        known = [noise for one in numbers[number] if (noise := noises[one])]
        alerting = [
            one
            for one in observed.alerted.intersection(numbers[number])
            if any(alert.state != "resolved" for alert, _ in observed.alerts_on(one))
        ]
        yield LineView(
            shorten(line.name, 120), shorten(str(line.era), 160),
            units.count(len(line.subjects)), shorten(last.label, 30), f"{last.date:%Y-%m-%d}",
            units.count(len(own)), units.count(len(judged)),
            units.percent(median(known)) if known else units.MISSING,
            units.count(len(alerting)),
        )  # fmt: skip


def health_page(
    observed: SiteInput, subject: Newest | None, noises: Sequence[float | None] | None = None
) -> dict[str, Any]:
    """The values of `health.html.j2`; ``subject`` is the newest with PyTensor cells.

    ``noises``: those of the series, if they are known.
    """
    noises = _noises(observed) if noises is None else noises
    return {
        "lines": list(lines_of(observed, noises)),
        "noise": _noise(observed, noises),
        "floors": list(_floors(observed)),
        "nights": list(_nights(observed)),
        "notes": list(_notes(observed, subject)) if subject else [],
        "noted": shorten(subject.subject, 60) if subject else "",
        # Journals record failures and absences; the files of asv do not.
        "has_journals": bool(observed.notes) or bool(observed.measured_at),
        "packages": _packages(observed, subject) if subject else None,
        "environments": [clean(text) for text in observed.alerts.environments[:_MOST]],
        "unjudged": [
            (units.count(one.count), clean(one.reason), [clean(each) for each in one.examples])
            for one in observed.alerts.unjudged
        ],
    }


def _noises(observed: SiteInput) -> list[float | None]:
    return [track.noise for track in observed.tracks]


def _noise(observed: SiteInput, noises: Sequence[float | None]) -> Table | None:
    """The noise of judged series by metric."""
    found = defaultdict(list)
    for track, noise in zip(observed.tracks, noises, strict=True):
        if noise:
            found[track.series.place.metric].append(noise)
    if not found:
        return None
    rows = []
    for metric, noises in sorted(found.items()):
        ordered = sorted(noises)
        rows.append((
            shorten(metric, 60), units.count(len(ordered)), units.percent(median(ordered)),
            units.percent(ordered[int(0.9 * (len(ordered) - 1))]),
        ))  # fmt: skip
    header = ("metric", "series judged", "median noise", "90th percentile")
    return Table("How far values lie from their levels", header, tuple(rows))


def _floors(observed: SiteInput) -> Iterator[Table]:
    """What chance does within one run, as `observatory calibrate` measured it."""
    for one in observed.calibrations:
        rows = tuple(
            (
                " ".join((f.cell.scenario, f.cell.backend, f.cell.launch)), clean(f.metric),
                units.percent(f.change), units.count(f.samples),
            )
            for f in one.floors if f.metric in JUDGED
        )  # fmt: skip
        caption = (
            f"{clean(one.machine.machine)}, {clean(one.machine.cpu)}, {one.taken_at:%Y-%m-%d}: "
            f"the change that 1 % of comparisons of {clean(one.subject.label)} with itself "
            f"exceed, with {FEWEST} processes on each side, or {COUNTED} counts"
        )
        yield Table(caption, ("cell", "metric", "noise floor", "samples"), rows[:_MOST])


def _nights(observed: SiteInput) -> Iterator[Table]:
    """How fast each machine was, by work that never changes; the newest night first."""
    by_machine = defaultdict(list)
    for one in observed.looks:
        by_machine[one.sentinel.machine.machine].append(one)
    for machine, own in sorted(by_machine.items()):
        own.sort(key=lambda one: one.sentinel.taken_at, reverse=True)
        pieces = list(dict.fromkeys(name for one in own for name in one.sentinel.times))
        rows = tuple(
            (
                f"{one.sentinel.taken_at:%Y-%m-%d %H:%M}",
                *(
                    units.signed(one.ratios[name]) if name in one.ratios else units.MISSING
                    for name in pieces
                ),
                shorten(f"{verdict(one)}{changed(one) and f': {changed(one)}'}", 200),
            )
            for one in own[:_NIGHTS]
        )
        caption = f"{clean(machine)}: time of fixed work, against the nights before"
        yield Table(caption, ("night", *map(clean, pieces), "what it says"), rows)


def _notes(observed: SiteInput, subject: Newest) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Titles, each with cells and a note on them."""
    own = observed.notes.get((subject.setting.machine, subject.setting.env_name), ())
    for kind, title in _NOTES.items():
        text_cells: dict[str, dict[str, None]] = defaultdict(dict)
        for note in own:
            if note.kind == kind and note.subject == subject.subject:
                what = f"no {note.metric}: " if kind == "absent" and note.metric else ""
                cell = f"{note.cell.scenario} {note.cell.backend} {note.cell.launch}"
                text_cells[shorten(f"{what}{note.text}", 400)][cell] = None
        if text_cells:
            yield title, [(_cells(list(cells)), text) for text, cells in text_cells.items()][:_MOST]


def _cells(cells: list[str]) -> str:
    if len(cells) <= 4:
        return ", ".join(cells)
    return f"{', '.join(cells[:3])} and {several(len(cells) - 3, 'more cell')}"


def _packages(observed: SiteInput, subject: Newest) -> Table | None:
    """The packages in which the newest subject differs from the one before it on its line."""
    for line in observed.lines:
        places = [n for n, one in enumerate(line.subjects) if one.label == subject.subject]
        if not subject.setting.is_of(line) or not places or not places[0]:
            continue
        old, new = line.subjects[places[0] - 1 : places[0] + 1]
        headers = [observed.files[one.file].header for one in (old, new)]
        packages = [header.versions.packages for header in headers if header]
        if len(packages) < 2:
            return None
        before, after = packages
        rows = tuple(
            (clean(name), clean(before.get(name, "absent")), clean(after.get(name, "absent")))
            for name in sorted(before.keys() | after.keys())
            if before.get(name) != after.get(name)
        )
        caption = f"{several(len(rows), 'package')} changed"
        header = ("package", shorten(old.label, 30), shorten(new.label, 30))
        return Table(caption, header, rows[:_PACKAGES_SHOWN])
    return None
