"""Causes of exact changes: what happens, where, what follows from it, and what to do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from benchmarks.catalogue import Cell
from observatory.store.records.comparison import Cause, FunctionChange, Verdict
from observatory.text.comparison.advice import about_cause
from observatory.text.comparison.breakdown import Breakdown, is_evidence
from observatory.text.comparison.cells import Labels
from observatory.text.comparison.headline import consequences
from observatory.text.comparison.phrases import capitalised, name, sentence, worst
from observatory.text.document import (
    Flat,
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
from observatory.text.units import change, count, seconds
from observatory.text.words import several

_VISIBLE = 3
_FOLDED = 60
_MOST_FUNCTIONS = 100
_MOST_COUNTS = 3


def causes(breakdown: Breakdown, labels: Labels) -> list[Part]:
    """The first causes in full, each with its functions folded; the others in a line each."""
    parts: list[Part] = []
    for cause in breakdown.causes[:_VISIBLE]:
        verdicts = breakdown.by_cause[cause.id]
        parts.append(Part(3, "a cause", _told(cause, verdicts, labels)))
        if cause.functions:
            parts.append(Part(7, "a list of functions", (_functions(cause),)))
    if rest := breakdown.causes[_VISIBLE:]:
        lines: list[Words] = [
            (
                Strong(cause.kind),
                ": ",
                *sentence(cause.sentence),
                " In ",
                *labels.cells(cause.cells),
            )
            for cause in rest[:_FOLDED]
        ]
        if len(rest) > _FOLDED:
            lines.append((f"and {count(len(rest) - _FOLDED)} more",))
        folded = Folded(several(len(rest), "further cause"), (Points(tuple(lines)),))
        parts.append(Part(5, "further causes", (folded,)))
    return parts


def uncaused(breakdown: Breakdown, labels: Labels) -> list[Part]:
    """Exact alarms that no cause explains."""
    counted = [verdict for verdict in breakdown.alone if verdict.kind == "exact"]
    if not counted:
        return []
    points = counts(counted, labels, 6)
    return [Part(3, "counts that rose", (Heading(("Without a known cause",)), Points(points)))]


def counts(verdicts: Sequence[Verdict], labels: Labels, most: int) -> tuple[Words, ...]:
    """Exact changes: "`cache_misses` 0 → 35 in ...", those of the most cells first."""
    groups: dict[tuple[str, str], set[Cell]] = defaultdict(set)
    for verdict in verdicts:
        if worst(verdict.base) == worst(verdict.head):
            continue  # it differs in what its reason says, and not in numbers
        values = change(worst(verdict.base), worst(verdict.head), verdict.unit)
        groups[verdict.metric, values].add(verdict.cell)
    ordered = sorted(groups.items(), key=lambda item: -len(item[1]))
    said: list[Words] = [
        (name(metric), f" {values} in ", *labels.cells(cells))
        for (metric, values), cells in ordered[:most]
    ]
    if len(ordered) > most:
        said.append((f"and {several(len(ordered) - most, 'more change')}",))
    return tuple(said)


def _told(cause: Cause, verdicts: Sequence[Verdict], labels: Labels) -> tuple[Flat, ...]:
    evidence = [verdict for verdict in verdicts if is_evidence(verdict, cause)]
    following = [verdict for verdict in verdicts if not is_evidence(verdict, cause)]
    points: list[Words] = []
    if evidence:
        points.append((Strong("Counted"), ": ", *_joined(counts(evidence, labels, _MOST_COUNTS))))
    else:
        points.append((Strong("Where"), ": ", *labels.cells(cause.cells)))
    if told := _consequence(cause, following):
        points.append((Strong("Costs"), ": ", *told))
    if advice := about_cause(cause.kind):
        points.append((Strong("Next"), ": ", *advice))
    return (
        Heading(capitalised((cause.kind,))),
        Paragraph(sentence(cause.sentence)),
        Points(tuple(points)),
    )


def _consequence(cause: Cause, verdicts: Sequence[Verdict]) -> Words:
    said: list[Piece] = list(consequences(verdicts))
    if not said and cause.seconds_lost > 0:
        said.append(f"{seconds(cause.seconds_lost)} of compiling in the worst cell")
    return tuple(said)


def _functions(cause: Cause) -> Folded:
    ordered = sorted(cause.functions, key=lambda each: (-each.seconds, each.name))
    number = sum(each.count for each in ordered)
    shown = ordered[:_MOST_FUNCTIONS]
    content: list[Flat] = [_table(shown)]
    if len(ordered) > len(shown):
        content.append(Paragraph((f"and {several(len(ordered) - len(shown), 'more name')}",)))
    order = ", the costliest first" if len(ordered) > 1 else ""
    summary = f"{several(number, 'function')} by name{order}"
    return Folded(summary, tuple(content))


def _table(functions: Iterable[FunctionChange]) -> Table:
    rows = tuple(
        (
            (name(each.name),),
            (count(each.count),),
            (name(each.base), " → ", name(each.head)),
            (seconds(each.seconds),),
        )
        for each in functions
    )
    return Table(("function", "how many", "BASE → HEAD", "more time"), rows)


def _joined(lines: Iterable[Words]) -> Words:
    said: list[Piece] = []
    for line in lines:
        said += ["; ", *line] if said else line
    return tuple(said)
