"""The sections on measured changes without a cause, on improvements and on the workload."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.catalogue import METRICS, SECTIONS
from observatory.store.records.comparison import Verdict, Workload
from observatory.text.comparison.advice import about_time
from observatory.text.comparison.breakdown import Breakdown
from observatory.text.comparison.causes import counts
from observatory.text.comparison.cells import Labels
from observatory.text.comparison.headline import improvements
from observatory.text.comparison.phrases import (
    EVERYWHERE,
    MEASURED,
    bounds,
    by_metric,
    certainty,
    claim,
    effect,
    extent,
    interval,
    joined,
    name,
    rest_of,
    typical_change,
)
from observatory.text.document import (
    Block,
    Folded,
    Heading,
    Paragraph,
    Part,
    Piece,
    Points,
    Strong,
    Table,
    Words,
)
from observatory.text.units import count
from observatory.text.words import several

_SECTIONS = {
    title: tuple(name for name in MEASURED if METRICS[name].section == title) for title in SECTIONS
}
"""The metrics of each section, in this order; others come last."""
_VISIBLE = 4
_MOST = 60
_MOST_NAMES = 40


def slower(breakdown: Breakdown, labels: Labels) -> list[Part]:
    """A section for each kind of time that got worse without a known cause."""
    found = [verdict for verdict in breakdown.alone if verdict.kind != "exact"]
    parts = []
    for title, metrics in _SECTIONS.items():
        own = [verdict for verdict in found if verdict.metric in metrics]
        parts += _section(title, own, metrics, labels)
    known = {metric for metrics in _SECTIONS.values() for metric in metrics}
    others = [verdict for verdict in found if verdict.metric not in known]
    return parts + _section("Other measurements", others, (), labels)


def better(breakdown: Breakdown, labels: Labels) -> list[Part]:
    """What improved: a few lines beside an alarm, else with all its numbers."""
    if not breakdown.improved:
        return []
    measured = [verdict for verdict in breakdown.improved if verdict.kind != "exact"]
    if breakdown.worse:
        said = improvements(breakdown.improved, labels)[:_VISIBLE]
        part = Part(5, "what got better", (Heading(("Better",)), Points(tuple(said))))
        summary = f"{several(len(measured), 'measurement')} that got better"
        return [part, *_folded_cells(measured, summary, labels)]
    blocks: list[Block] = [Heading(("Better",))]
    exact = [verdict for verdict in breakdown.improved if verdict.kind == "exact"]
    if exact:
        blocks.append(Points(counts(exact, labels, _VISIBLE)))
    shown, rest = _split(sorted(measured, key=lambda verdict: -extent(verdict)))
    if shown:
        blocks += _tables(shown, labels)
    part = Part(5, "what got better", tuple(blocks))
    return [part, *_folded_cells(rest, f"{count(len(rest))} more that got better", labels)]


def workload(breakdown: Breakdown, labels: Labels) -> list[Part]:
    """How the compiled graph changed: never an alarm, always folded.

    Cells with an alarm are left out: their counts follow from its cause.
    """
    descriptive = [
        verdict
        for verdict in breakdown.comparison.verdicts
        if verdict.conclusion == "workload changed" and verdict.cell not in breakdown.worse
    ]
    entries = breakdown.comparison.workload
    if not (descriptive or entries):
        return []
    points = [_names(entry) for entry in entries]
    points += counts([v for v in descriptive if v.kind == "exact"], labels, _MOST)
    measured = by_metric(v for v in descriptive if v.kind != "exact")
    points += [claim(own, labels.cells({v.cell for v in own})) for own in measured.values()]
    points[_MOST:] = rest_of(len(points), _MOST, "change")
    appeared = sum(number for entry in entries for _, number in entry.appeared)
    vanished = sum(number for entry in entries for _, number in entry.vanished)
    summary = "Workload changed (no alarm)"
    if appeared or vanished:
        summary += f": {several(appeared, 'new function')}, {count(vanished)} removed"
    folded = Folded(summary, (Points(tuple(points)),))
    return [Part(9, "the changes of the workload", (folded,))]


def _section(
    title: str, verdicts: Sequence[Verdict], metrics: Sequence[str], labels: Labels
) -> list[Part]:
    if not verdicts:
        return []
    ordered = sorted(
        verdicts,
        key=lambda v: (metrics.index(v.metric) if v.metric in metrics else 0, -extent(v)),
    )
    shown, rest = _split(ordered)
    blocks: list[Block] = [Heading((title,)), *_tables(shown, labels)]
    if advice := about_time(ordered[0].metric):
        blocks.append(Paragraph((Strong("Next"), ": ", *advice)))
    noun = title.lower()
    return [
        Part(4, noun, tuple(blocks)),
        *_folded_cells(rest, f"{count(len(rest))} more of {noun}", labels),
    ]


def _split(verdicts: Sequence[Verdict]) -> tuple[Sequence[Verdict], Sequence[Verdict]]:
    """Those that are shown and those that are folded; one alone is never folded."""
    shown = len(verdicts) if len(verdicts) <= _VISIBLE + 1 else _VISIBLE
    return verdicts[:shown], verdicts[shown:]


def _folded_cells(verdicts: Sequence[Verdict], summary: str, labels: Labels) -> list[Part]:
    if not verdicts:
        return []
    rest = map(Paragraph, rest_of(len(verdicts), _MOST, "measurement"))
    folded = Folded(summary, (*_tables(verdicts[:_MOST], labels), *rest))
    return [Part(8, "a table of measurements", (folded,))]


def _tables(verdicts: Sequence[Verdict], labels: Labels) -> list[Table]:
    """A table for each metric, a row for each verdict."""
    return [_table(metric, found, labels) for metric, found in by_metric(verdicts).items()]


def _table(metric: str, verdicts: Sequence[Verdict], labels: Labels) -> Table:
    intervals = {interval(verdict.ratio) for verdict in verdicts if verdict.ratio}
    one = intervals.pop() if len(intervals) == 1 else None
    rows = [
        (
            ("every process" if metric in EVERYWHERE else labels.cell(verdict.cell),),
            (Strong(effect(verdict)),),
            (typical_change(verdict),),
            (bounds(verdict.ratio) if one and verdict.ratio else certainty(verdict.ratio),),
        )
        for verdict in verdicts
    ]
    return Table((name(metric).text, "HEAD is", "BASE → HEAD", one or "interval"), tuple(rows))


def _names(entry: Workload) -> Words:
    sides = (("new", entry.appeared), ("removed", entry.vanished))
    said = joined(_counted(label, functions) for label, functions in sides if functions)
    return (name(entry.model), " ", name(entry.backend), ": ", *said)


def _counted(label: str, functions: Sequence[tuple[str, int]]) -> Words:
    said: list[Piece] = [f"{label} "]
    for index, (function, number) in enumerate(functions[:_MOST_NAMES]):
        said += [", " * bool(index), name(function), f" ({count(number)})" * (number != 1)]
    said += [f" {note}" for (note,) in rest_of(len(functions), _MOST_NAMES, "name")]
    return tuple(said)
