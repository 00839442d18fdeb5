"""The sections of a comparison: causes, other changes, improvements and the workload."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from observatory.analyze.comparison.noisy import DEFAULT_MINIMUM_EFFECT
from observatory.analyze.comparison.rules import ONCE
from observatory.analyze.statements import Statement
from observatory.benchmarks.catalogue import (
    CAUSES,
    DEFAULT_MODEL,
    METRICS,
    OF_WORK,
    SECTIONS,
    Cell,
    headline_time,
)
from observatory.benchmarks.messages import OUTER_GRAPH
from observatory.store.records.comparison import CALM, Cause, Comparison, Verdict, Workload
from observatory.text import document as doc
from observatory.text.comparison import phrases
from observatory.text.comparison.breakdown import Breakdown, Labels, is_evidence
from observatory.text.comparison.claims import consequences, improvements
from observatory.text.comparison.phrases import joined, name, rest_of, sentence
from observatory.text.forge import are_pins, is_release_with_pins, ref_of
from observatory.text.statements import sentence_of
from observatory.text.titles import title_of
from observatory.text.units import change, count, percent, seconds
from observatory.text.words import several

_CAUSES = 3
_COMMIT = 12
"""Digits of a commit in a command."""
_MOST_FUNCTIONS = 100
_MOST_COUNTS = 3
_OTHERS = "Other measurements"
_VISIBLE = 4
_MOST = 60
_MOST_NAMES = 40


def causes(breakdown: Breakdown, labels: Labels) -> list[doc.Part]:
    """A section for each of the first causes, its functions folded; a line for each other."""
    parts: list[doc.Part] = []
    for cause in breakdown.causes[:_CAUSES]:
        verdicts = breakdown.by_cause[cause.id]
        parts.append(doc.Part(3, "a cause", _cause(cause, verdicts, breakdown, labels)))
        if cause.functions:
            functions = phrases.folded_functions(cause.functions, _MOST_FUNCTIONS, timed=True)
            parts.append(doc.Part(7, "a list of functions", (functions,)))
        if cause.graphs:
            graphs = phrases.folded_graphs(cause.graphs, _MOST_FUNCTIONS)
            parts.append(doc.Part(7, "a list of graphs", (graphs,)))
    if rest := breakdown.causes[_CAUSES:]:
        lines: list[doc.Words] = [
            (
                doc.Strong(title_of(one.kind)),
                ": ",
                *sentence(one.sentence),
                " In ",
                *labels.cells(one.cells),
            )
            for one in rest[:_MOST]
        ]
        lines += rest_of(len(rest), _MOST, "cause")
        folded = doc.Folded(several(len(rest), "further cause"), (doc.Points(tuple(lines)),))
        parts.append(doc.Part(5, "further causes", (folded,)))
    return parts


def unexplained(breakdown: Breakdown, labels: Labels) -> list[doc.Part]:
    """The section on exact alarms that no cause explains."""
    counted = [verdict for verdict in breakdown.unexplained if verdict.kind == "exact"]
    if not counted:
        return []
    blocks = doc.Heading(("Without a known cause",)), doc.Points(counts(counted, labels, 6))
    return [doc.Part(3, "counts that rose", blocks)]


def counts(verdicts: Sequence[Verdict], labels: Labels, most: int) -> tuple[doc.Words, ...]:
    """Exact changes: "`cache_misses` 0 → 35 in ...", those in the most cells first."""
    groups: dict[tuple[str, str], set[Cell]] = defaultdict(set)
    for verdict in verdicts:
        base, head = phrases.worst(verdict.base), phrases.worst(verdict.head)
        if base == head:
            continue  # its reason differs, and not its number
        exact = verdict.kind == "exact"
        values = change(base, head, verdict.unit) if exact else phrases.typical_change(verdict)
        groups[verdict.metric, values].add(verdict.cell)
    ordered = sorted(groups.items(), key=lambda item: -len(item[1]))
    lines = (
        (name(metric), f" {values} in ", *labels.cells(cells))
        for (metric, values), cells in ordered[:most]
    )
    return (*lines, *rest_of(len(ordered), most, "change"))


def advice_on(kind: str) -> doc.Words:
    """What to do about a cause; empty for a cause that only a later version knows."""
    return doc.written(" ".join(CAUSES[kind].advice.split())) if kind in CAUSES else ()


def _next(cause: Cause, comparison: Comparison) -> doc.Words:
    """The advice; where it is to run `observatory explain`, with the arguments."""
    words, explain = advice_on(cause.kind), doc.Name("observatory explain")
    arguments = _to_explain(cause, comparison) if explain in words else ()
    if not arguments:
        return words
    command = doc.Name(f"{explain.text} {shlex.join(arguments)}")
    return tuple(command if one == explain else one for one in words)


def _to_explain(cause: Cause, comparison: Comparison) -> tuple[str, ...]:
    """A function and HEAD; nothing without the usual model, or where HEAD has no name."""
    cell = next((one for one in cause.cells if one.model == DEFAULT_MODEL), None)
    label, commit = comparison.head.subject.label, comparison.head.subject.commit
    head, *pins = label.split(" ")
    clone: tuple[str, ...] = ()
    if not is_release_with_pins(label):
        head = comparison.head_ref or ref_of(label, commit)[:_COMMIT]
        clone = ("--repo", "CLONE")
    if cell is None or not head or not are_pins(pins):
        return ()
    names = [one.name for one in cause.functions if one.name != OUTER_GRAPH]
    ops = [one for one in names if "." not in one]  # a function of Python has a path
    backend = () if cell.backend == "NUMBA" else ("--backend", cell.backend)
    more = (word for pin in pins for word in ("--with", pin))
    return ((*ops, *names, OUTER_GRAPH)[0], head, *clone, *backend, *more)


def _cause(
    cause: Cause, verdicts: Sequence[Verdict], breakdown: Breakdown, labels: Labels
) -> tuple[doc.Flat, ...]:
    evidence = [verdict for verdict in verdicts if is_evidence(verdict, cause)]
    effect = consequences([verdict for verdict in verdicts if not is_evidence(verdict, cause)])
    if not effect and cause.functions and cause.seconds_lost > 0:
        effect = (f"{seconds(cause.seconds_lost)} more compiling in the worst cell",)
    effect = effect or _not_felt(cause, breakdown)
    points = {
        "Evidence": joined(counts(evidence, labels, _MOST_COUNTS)),
        "Begins with": phrases.beginning(verdicts),
        "Where": () if evidence else labels.cells(cause.cells),
        "Effect": effect,
        "Next": _next(cause, breakdown.comparison),
    }
    shown = tuple((doc.Strong(title), ": ", *words) for title, words in points.items() if words)
    title = title_of(cause.kind)
    heading = doc.Heading((f"{title[:1].upper()}{title[1:]}",))
    return heading, doc.Paragraph(sentence(cause.sentence)), doc.Points(shown)


def _not_felt(cause: Cause, breakdown: Breakdown) -> doc.Words:
    """What the times say where work grew and no time is worse; empty of other causes."""
    known = CAUSES.get(cause.kind)
    if known is None or set(OF_WORK).isdisjoint(known.shows_in):
        return ()
    times = [
        verdict
        for verdict in breakdown.comparison.verdicts
        if verdict.cell in cause.cells and verdict.metric == headline_time(verdict.cell.scenario)
    ]
    undecided = [verdict for verdict in times if verdict.conclusion == "undecided"]
    if any(map(_is_too_noisy, undecided)):
        return ("The times are too noisy to tell whether a user notices it",)
    if undecided:
        return ("No time was judged" if undecided == times else "Not every time was judged",)
    calm = {verdict.cell for verdict in times if verdict.conclusion == "unaffected"}
    if calm != set(cause.cells):
        return ()
    most = max(verdict.minimum_effect or 0.0 for verdict in times)
    told = f"No time changed by more than {percent(most)}"
    if most > DEFAULT_MINIMUM_EFFECT:
        told += "; a smaller change could not be told from chance"
    return (told,)


def _is_too_noisy(verdict: Verdict) -> bool:
    """Whether a time is undecided because of its interval, and not for want of values."""
    ratio, floor = verdict.ratio, verdict.minimum_effect
    if ratio is None or floor is None:
        return False
    because = Statement("interval too wide", (ratio.low, ratio.high, floor))
    return verdict.reason == sentence_of(because)


def remarks(breakdown: Breakdown, labels: Labels) -> list[doc.Part]:
    """Parts that do much more in builds that do not: no alarm."""
    cells: dict[str, set[Cell]] = defaultdict(set)
    for verdict in breakdown.comparison.verdicts:
        if verdict.conclusion in CALM and verdict.kind == "near_exact" and verdict.reason:
            cells[verdict.reason].add(verdict.cell)
    lines = [
        (*labels.cells(where), ": ", *sentence(reason))
        for reason, where in sorted(cells.items(), key=lambda item: min(item[1]))
    ]
    if not lines:
        return []
    lines[_VISIBLE:] = rest_of(len(lines), _VISIBLE, "cell")
    blocks = doc.Heading(("Remarks",)), doc.Points(tuple(lines))
    return [doc.Part(6, "remarks", blocks)]


def slower(breakdown: Breakdown, labels: Labels) -> list[doc.Part]:
    """A section for each kind of time that got worse without a known cause."""
    sections: dict[str, list[Verdict]] = {title: [] for title in (*SECTIONS, _OTHERS)}
    for verdict in breakdown.unexplained:
        if verdict.kind != "exact":
            known = verdict.metric in phrases.MEASURED
            sections[METRICS[verdict.metric].section if known else _OTHERS].append(verdict)
    order = {metric: place for place, metric in enumerate(phrases.MEASURED)}
    of_causes = {verdict.reason for own in breakdown.by_cause.values() for verdict in own}
    parts = []
    for title, own in sections.items():
        own.sort(key=lambda v: (order.get(v.metric, 0), -phrases.extent(v)))
        first = METRICS.get(own[0].metric) if own else None
        advice = doc.written(first.advice) if first is not None and first.advice else ()
        begins = phrases.beginning(verdict for verdict in own if verdict.reason not in of_causes)
        after = [
            doc.Paragraph((doc.Strong(name), ": ", *words))
            for name, words in (("Begins with", begins), ("Next", advice))
            if words
        ]
        if own:
            part = doc.Part(4, title.lower(), (doc.Heading((title,)),))
            parts += _measured(part, own, after, f"of {part.noun}", labels)
    return parts


def better(breakdown: Breakdown, labels: Labels) -> list[doc.Part]:
    """What improved: a few lines beside an alarm, else with all its numbers."""
    if not breakdown.improved:
        return []
    measured = [verdict for verdict in breakdown.improved if verdict.kind != "exact"]
    if breakdown.worse:
        said = improvements(breakdown.improved, labels)
        lines = [(*one.words, " (", *one.size, ")") for one in said[:_VISIBLE]]
        lines += rest_of(len(said), _VISIBLE, "change")
        part = doc.Part(5, "what got better", (doc.Heading(("Better",)), doc.Points(tuple(lines))))
        summary = f"{several(len(measured), 'measurement')} that got better"
        return [part, *_folded_cells(measured, summary, labels)]
    exact = [verdict for verdict in breakdown.improved if verdict.kind == "exact"]
    points = [doc.Points(counts(exact, labels, _VISIBLE))] if exact else []
    part = doc.Part(5, "what got better", (doc.Heading(("Better",)), *points))
    measured.sort(key=lambda verdict: -phrases.extent(verdict))
    return _measured(part, measured, [], "that got better", labels)


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
    points[_MOST:] = rest_of(len(points), _MOST, "change")
    appeared = sum(number for entry in entries for _, number in entry.appeared)
    vanished = sum(number for entry in entries for _, number in entry.vanished)
    summary = "Workload changed (no alarm)"
    if appeared or vanished:
        summary += f": {several(appeared, 'new function')}, {count(vanished)} removed"
    folded = doc.Folded(summary, (doc.Points(tuple(points)),))
    return [doc.Part(9, "the changes of the workload", (folded,))]


def _measured(
    part: doc.Part,
    verdicts: Sequence[Verdict],
    after: Sequence[doc.Block],
    noun: str,
    labels: Labels,
) -> list[doc.Part]:
    """The part with tables of the first verdicts, and the others folded; never one alone."""
    number = len(verdicts) if len(verdicts) <= _VISIBLE + 1 else _VISIBLE
    blocks = (*part.blocks, *_tables(verdicts[:number], labels), *after)
    rest = verdicts[number:]
    folded = _folded_cells(rest, f"{count(len(rest))} more {noun}", labels)
    return [replace(part, blocks=blocks), *folded]


def _folded_cells(verdicts: Sequence[Verdict], summary: str, labels: Labels) -> list[doc.Part]:
    if not verdicts:
        return []
    rest = map(doc.Paragraph, rest_of(len(verdicts), _MOST, "measurement"))
    folded = doc.Folded(summary, (*_tables(verdicts[:_MOST], labels), *rest))
    return [doc.Part(8, "a table of measurements", (folded,))]


def _tables(verdicts: Sequence[Verdict], labels: Labels) -> Iterator[doc.Table]:
    """A table for each metric, a row for each verdict."""
    for metric, found in phrases.by_metric(verdicts).items():
        intervals = {phrases.interval(verdict.ratio) for verdict in found if verdict.ratio}
        one = intervals.pop() if len(intervals) == 1 else None
        ends = phrases.bounds if one else phrases.certainty
        rows: list[tuple[doc.Words, ...]] = [
            (
                ("every process" if metric in ONCE else labels.cell(verdict.cell),),
                (doc.Strong(phrases.effect(verdict)),),
                (phrases.typical_change(verdict),),
                (ends(verdict.ratio) if verdict.ratio else "",),
            )
            for verdict in found
        ]
        header = name(metric).text, "HEAD is", "BASE → HEAD", one or "interval"
        yield doc.Table(header, tuple(rows))


def _names(entry: Workload) -> doc.Words:
    sides = (("new", entry.appeared), ("removed", entry.vanished))
    said = joined(_counted(label, functions) for label, functions in sides if functions)
    return (name(entry.model), " ", name(entry.backend), ": ", *said)


def _counted(label: str, functions: Sequence[tuple[str, int]]) -> doc.Words:
    said: list[doc.Piece] = [f"{label} "]
    for index, (function, number) in enumerate(functions[:_MOST_NAMES]):
        said += [", " * bool(index), name(function), f" ({count(number)})" * (number != 1)]
    said += [f" {note}" for (note,) in rest_of(len(functions), _MOST_NAMES, "name")]
    return tuple(said)
