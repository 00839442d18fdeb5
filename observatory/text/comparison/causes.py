"""The sections on causes: what happens, the evidence, the effect, and what to do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from benchmarks.catalogue import CAUSES, Cell
from observatory.store.records.comparison import Cause, Verdict
from observatory.text import document as doc
from observatory.text.comparison.breakdown import Breakdown, is_evidence
from observatory.text.comparison.cells import Labels
from observatory.text.comparison.headline import consequences
from observatory.text.comparison.phrases import (
    culprit,
    joined,
    name,
    rest_of,
    sentence,
    typical_change,
    worst,
)
from observatory.text.units import change, count, seconds
from observatory.text.words import several

_VISIBLE = 3
_FOLDED = 60
_MOST_FUNCTIONS = 100
_MOST_COUNTS = 3


def causes(breakdown: Breakdown, labels: Labels) -> list[doc.Part]:
    """A section for each of the first causes, its functions folded; a line for each other."""
    parts: list[doc.Part] = []
    for cause in breakdown.causes[:_VISIBLE]:
        verdicts = breakdown.by_cause[cause.id]
        parts.append(doc.Part(3, "a cause", _section(cause, verdicts, labels)))
        if cause.functions:
            parts.append(doc.Part(7, "a list of functions", (_functions(cause),)))
    if rest := breakdown.causes[_VISIBLE:]:
        lines: list[doc.Words] = [
            (doc.Strong(one.kind), ": ", *sentence(one.sentence), " In ", *labels.cells(one.cells))
            for one in rest[:_FOLDED]
        ]
        lines += rest_of(len(rest), _FOLDED, "cause")
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
        base, head = worst(verdict.base), worst(verdict.head)
        if base == head:
            continue  # its reason differs, and not its number
        exact = verdict.kind == "exact"
        values = change(base, head, verdict.unit) if exact else typical_change(verdict)
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


def _section(cause: Cause, verdicts: Sequence[Verdict], labels: Labels) -> tuple[doc.Flat, ...]:
    evidence = [verdict for verdict in verdicts if is_evidence(verdict, cause)]
    effect = consequences([verdict for verdict in verdicts if not is_evidence(verdict, cause)])
    if not effect and cause.seconds_lost > 0:
        effect = (f"{seconds(cause.seconds_lost)} more compiling in the worst cell",)
    points = {
        "Evidence": joined(counts(evidence, labels, _MOST_COUNTS)),
        "Begins with": culprit(verdicts),
        "Where": () if evidence else labels.cells(cause.cells),
        "Effect": effect,
        "Next": advice_on(cause.kind),
    }
    shown = tuple((doc.Strong(title), ": ", *words) for title, words in points.items() if words)
    heading = doc.Heading((f"{cause.kind[:1].upper()}{cause.kind[1:]}",))
    return heading, doc.Paragraph(sentence(cause.sentence)), doc.Points(shown)


def _functions(cause: Cause) -> doc.Folded:
    ordered = sorted(cause.functions, key=lambda each: (-each.seconds, each.name))
    summary = several(sum(each.count for each in ordered), "function")
    if len(ordered) > 1:
        summary += ", the most expensive first"
    rows: tuple[tuple[doc.Words, ...], ...] = tuple(
        ((name(each.name),), (count(each.count),), (name(each.base), " → ", name(each.head)),
         (seconds(each.seconds),))
        for each in ordered[:_MOST_FUNCTIONS]
    )  # fmt: skip
    table = doc.Table(("function", "how many", "BASE → HEAD", "extra time"), rows)
    rest = rest_of(len(ordered), _MOST_FUNCTIONS, "name")
    return doc.Folded(summary, (table, *map(doc.Paragraph, rest)))
