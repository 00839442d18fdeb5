"""The sections on causes: what happens, the evidence, the effect, and what to do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from benchmarks.catalogue import Cell
from observatory.store.records.comparison import Cause, FunctionChange, Verdict
from observatory.text.comparison.advice import about_cause
from observatory.text.comparison.breakdown import Breakdown, is_evidence
from observatory.text.comparison.cells import Labels
from observatory.text.comparison.headline import consequences
from observatory.text.comparison.phrases import (
    capitalised,
    joined,
    name,
    rest_of,
    sentence,
    typical_change,
    worst,
)
from observatory.text.document import (
    Flat,
    Folded,
    Heading,
    Paragraph,
    Part,
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
    """A section for each of the first causes, its functions folded; a line for each other."""
    parts: list[Part] = []
    for cause in breakdown.causes[:_VISIBLE]:
        verdicts = breakdown.by_cause[cause.id]
        parts.append(Part(3, "a cause", _section(cause, verdicts, labels)))
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
        lines += rest_of(len(rest), _FOLDED, "cause")
        folded = Folded(several(len(rest), "further cause"), (Points(tuple(lines)),))
        parts.append(Part(5, "further causes", (folded,)))
    return parts


def uncaused(breakdown: Breakdown, labels: Labels) -> list[Part]:
    """The section on exact alarms that no cause explains."""
    counted = [verdict for verdict in breakdown.alone if verdict.kind == "exact"]
    if not counted:
        return []
    points = counts(counted, labels, 6)
    return [Part(3, "counts that rose", (Heading(("Without a known cause",)), Points(points)))]


def counts(verdicts: Sequence[Verdict], labels: Labels, most: int) -> tuple[Words, ...]:
    """Exact changes: "`cache_misses` 0 → 35 in ...", those in the most cells first."""
    groups: dict[tuple[str, str], set[Cell]] = defaultdict(set)
    for verdict in verdicts:
        base, head = worst(verdict.base), worst(verdict.head)
        if base == head:
            continue  # its reason differs, and not its number
        exact = verdict.kind == "exact"
        values = change(base, head, verdict.unit) if exact else typical_change(verdict)
        groups[verdict.metric, values].add(verdict.cell)
    ordered = sorted(groups.items(), key=lambda item: -len(item[1]))
    said = (
        (name(metric), f" {values} in ", *labels.cells(cells))
        for (metric, values), cells in ordered[:most]
    )
    return (*said, *rest_of(len(ordered), most, "change"))


def _section(cause: Cause, verdicts: Sequence[Verdict], labels: Labels) -> tuple[Flat, ...]:
    evidence = [verdict for verdict in verdicts if is_evidence(verdict, cause)]
    following = [verdict for verdict in verdicts if not is_evidence(verdict, cause)]
    points: list[Words] = []
    if evidence:
        points.append((Strong("Evidence"), ": ", *joined(counts(evidence, labels, _MOST_COUNTS))))
    else:
        points.append((Strong("Where"), ": ", *labels.cells(cause.cells)))
    effect = consequences(following)
    if not effect and cause.seconds_lost > 0:
        effect = (f"{seconds(cause.seconds_lost)} more compiling in the worst cell",)
    if effect:
        points.append((Strong("Effect"), ": ", *effect))
    if advice := about_cause(cause.kind):
        points.append((Strong("Next"), ": ", *advice))
    return (
        Heading(capitalised((cause.kind,))),
        Paragraph(sentence(cause.sentence)),
        Points(tuple(points)),
    )


def _functions(cause: Cause) -> Folded:
    ordered = sorted(cause.functions, key=lambda each: (-each.seconds, each.name))
    summary = several(sum(each.count for each in ordered), "function")
    if len(ordered) > 1:
        summary += ", the most expensive first"
    table = _table(ordered[:_MOST_FUNCTIONS])
    return Folded(summary, (table, *map(Paragraph, rest_of(len(ordered), _MOST_FUNCTIONS, "name"))))


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
    return Table(("function", "how many", "BASE → HEAD", "extra time"), rows)
