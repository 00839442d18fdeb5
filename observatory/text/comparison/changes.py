"""The sections on measured changes without a cause, on improvements and on the workload."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from benchmarks.catalogue import METRICS, SECTIONS
from observatory.store.records.comparison import Verdict, Workload
from observatory.text import document as doc
from observatory.text.comparison import phrases
from observatory.text.comparison.breakdown import Breakdown
from observatory.text.comparison.causes import counts
from observatory.text.comparison.cells import Labels
from observatory.text.comparison.headline import improvements
from observatory.text.units import count
from observatory.text.words import several

_OTHERS = "Other measurements"
_VISIBLE = 4
_MOST = 60
_MOST_NAMES = 40


def slower(breakdown: Breakdown, labels: Labels) -> list[doc.Part]:
    """A section for each kind of time that got worse without a known cause."""
    sections: dict[str, list[Verdict]] = {title: [] for title in (*SECTIONS, _OTHERS)}
    for verdict in breakdown.unexplained:
        if verdict.kind != "exact":
            known = verdict.metric in phrases.MEASURED
            sections[METRICS[verdict.metric].section if known else _OTHERS].append(verdict)
    told = {verdict.reason for own in breakdown.by_cause.values() for verdict in own}
    return [
        part
        for title, own in sections.items()
        for part in (_section(title, own, labels, told) if own else ())
    ]


def better(breakdown: Breakdown, labels: Labels) -> list[doc.Part]:
    """What improved: a few lines beside an alarm, else with all its numbers."""
    if not breakdown.improved:
        return []
    measured = [verdict for verdict in breakdown.improved if verdict.kind != "exact"]
    if breakdown.worse:
        said = improvements(breakdown.improved, labels)[:_VISIBLE]
        part = doc.Part(5, "what got better", (doc.Heading(("Better",)), doc.Points(tuple(said))))
        summary = f"{several(len(measured), 'measurement')} that got better"
        return [part, *_folded_cells(measured, summary, labels)]
    exact = [verdict for verdict in breakdown.improved if verdict.kind == "exact"]
    points = [doc.Points(counts(exact, labels, _VISIBLE))] if exact else []
    shown, rest = _split(sorted(measured, key=lambda verdict: -phrases.extent(verdict)))
    blocks: list[doc.Block] = [doc.Heading(("Better",)), *points, *_tables(shown, labels)]
    part = doc.Part(5, "what got better", tuple(blocks))
    return [part, *_folded_cells(rest, f"{count(len(rest))} more that got better", labels)]


def workload(breakdown: Breakdown, labels: Labels) -> list[doc.Part]:
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
    measured = phrases.by_metric(v for v in descriptive if v.kind != "exact")
    points += [phrases.claim(own, labels.cells({v.cell for v in own})) for own in measured.values()]
    points[_MOST:] = phrases.rest_of(len(points), _MOST, "change")
    appeared = sum(number for entry in entries for _, number in entry.appeared)
    vanished = sum(number for entry in entries for _, number in entry.vanished)
    summary = "Workload changed (no alarm)"
    if appeared or vanished:
        summary += f": {several(appeared, 'new function')}, {count(vanished)} removed"
    folded = doc.Folded(summary, (doc.Points(tuple(points)),))
    return [doc.Part(9, "the changes of the workload", (folded,))]


def _section(
    title: str, verdicts: Sequence[Verdict], labels: Labels, told: Collection[str | None]
) -> list[doc.Part]:
    """``told``: reasons that the causes have said."""
    order = {metric: place for place, metric in enumerate(phrases.MEASURED)}
    ordered = sorted(verdicts, key=lambda v: (order.get(v.metric, 0), -phrases.extent(v)))
    shown, rest = _split(ordered)
    blocks: list[doc.Block] = [doc.Heading((title,)), *_tables(shown, labels)]
    if begins := phrases.culprit(v for v in ordered if v.reason not in told):
        blocks.append(doc.Paragraph((doc.Strong("Begins with"), ": ", *begins)))
    first = METRICS.get(ordered[0].metric)
    if first is not None and first.advice:
        blocks.append(doc.Paragraph((doc.Strong("Next"), ": ", *doc.written(first.advice))))
    noun = title.lower()
    return [
        doc.Part(4, noun, tuple(blocks)),
        *_folded_cells(rest, f"{count(len(rest))} more of {noun}", labels),
    ]


def _split(verdicts: Sequence[Verdict]) -> tuple[Sequence[Verdict], Sequence[Verdict]]:
    """Those that are shown and those that are folded; one alone is never folded."""
    shown = len(verdicts) if len(verdicts) <= _VISIBLE + 1 else _VISIBLE
    return verdicts[:shown], verdicts[shown:]


def _folded_cells(verdicts: Sequence[Verdict], summary: str, labels: Labels) -> list[doc.Part]:
    if not verdicts:
        return []
    rest = map(doc.Paragraph, phrases.rest_of(len(verdicts), _MOST, "measurement"))
    folded = doc.Folded(summary, (*_tables(verdicts[:_MOST], labels), *rest))
    return [doc.Part(8, "a table of measurements", (folded,))]


def _tables(verdicts: Sequence[Verdict], labels: Labels) -> list[doc.Table]:
    """A table for each metric, a row for each verdict."""
    return [_table(metric, found, labels) for metric, found in phrases.by_metric(verdicts).items()]


def _table(metric: str, verdicts: Sequence[Verdict], labels: Labels) -> doc.Table:
    intervals = {phrases.interval(verdict.ratio) for verdict in verdicts if verdict.ratio}
    one = intervals.pop() if len(intervals) == 1 else None
    ends = phrases.bounds if one else phrases.certainty
    rows: list[tuple[doc.Words, ...]] = [
        (
            ("every process" if metric in phrases.EVERYWHERE else labels.cell(verdict.cell),),
            (doc.Strong(phrases.effect(verdict)),),
            (phrases.typical_change(verdict),),
            (ends(verdict.ratio) if verdict.ratio else "",),
        )
        for verdict in verdicts
    ]
    header = phrases.name(metric).text, "HEAD is", "BASE → HEAD", one or "interval"
    return doc.Table(header, tuple(rows))


def _names(entry: Workload) -> doc.Words:
    sides = (("new", entry.appeared), ("removed", entry.vanished))
    said = phrases.joined(_counted(label, functions) for label, functions in sides if functions)
    return (phrases.name(entry.model), " ", phrases.name(entry.backend), ": ", *said)


def _counted(label: str, functions: Sequence[tuple[str, int]]) -> doc.Words:
    said: list[doc.Piece] = [f"{label} "]
    for index, (function, number) in enumerate(functions[:_MOST_NAMES]):
        said += [", " * bool(index), phrases.name(function), f" ({count(number)})" * (number != 1)]
    said += [f" {note}" for (note,) in phrases.rest_of(len(functions), _MOST_NAMES, "name")]
    return tuple(said)
