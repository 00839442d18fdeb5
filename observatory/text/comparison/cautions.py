"""What could not be judged, and warnings: the numbers beside them do not cover it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from observatory.benchmarks.catalogue import METRICS, Cell
from observatory.text import document as doc
from observatory.text.comparison.breakdown import TOLD_IF_SAME, Breakdown, Labels
from observatory.text.comparison.phrases import enumerated, joined, name, rest_of, sentence
from observatory.text.words import known_first, several

_LONGEST = 300
_VISIBLE = 4
_MOST = 60
_NAMED_DIFFERENCES = 3


def cautions(breakdown: Breakdown, labels: Labels) -> list[doc.Part]:
    """A section, and a folded one for what does not fit in it."""
    points = [
        *_known(breakdown, labels), *_missing(breakdown, labels), *_undecided(breakdown, labels),
        *_differences(breakdown),
        *(sentence(one, _LONGEST) for one in dict.fromkeys(breakdown.comparison.warnings)),
    ]  # fmt: skip
    unjudged = breakdown.comparison.missing or breakdown.comparison.undecided
    if not points:
        return []
    title = "Not judged" if unjudged else "Warnings"
    first = points if len(points) <= _VISIBLE + 1 else points[:_VISIBLE]
    parts = [
        doc.Part(1, "what could not be judged", (doc.Heading((title,)), doc.Points(tuple(first))))
    ]
    if rest := points[len(first) :]:
        shown = doc.Points((*rest[:_MOST], *rest_of(len(rest), _MOST, "warning")))
        folded = doc.Folded(several(len(rest), "more warning"), (shown,))
        parts.append(doc.Part(6, "further warnings", (folded,)))
    return parts


def _known(breakdown: Breakdown, labels: Labels) -> Iterator[doc.Words]:
    """Wrong results and crashes that BASE has, too."""
    by_metric: dict[str, set[Cell]] = defaultdict(set)
    for verdict in breakdown.in_both:
        by_metric[verdict.metric].add(verdict.cell)
    for metric in known_first(by_metric, TOLD_IF_SAME):
        where = labels.cells(by_metric[metric])
        yield (doc.Strong(f"{TOLD_IF_SAME[metric]} in both BASE and HEAD"), ": ", *where, ".")


def _missing(breakdown: Breakdown, labels: Labels) -> Iterator[doc.Words]:
    """Cells without a result, by side and reason."""
    groups: dict[tuple[str, str], list[tuple[Cell, str]]] = defaultdict(list)
    crashed = {c for cause in breakdown.causes if cause.kind == "crashed" for c in cause.cells}
    for missing in breakdown.comparison.missing:
        explained = missing.side == "head" and missing.cell in crashed
        reason = "HEAD crashes there: see above" if explained else missing.reason
        groups[missing.side, _kind_of(reason)].append((missing.cell, reason))
    sides = {"base": "BASE", "head": "HEAD", "both": "BASE and HEAD"}
    for (side, _), found in sorted(groups.items(), key=lambda item: -len(item[1])):
        cells = {cell for cell, _ in found}
        title = f"{several(len(cells), 'cell')} incomplete in {sides[side]}"
        reasons = [reason for _, reason in found]
        yield (doc.Strong(title), ": ", *labels.cells(cells), ". ", *_one_of(reasons))


def _undecided(breakdown: Breakdown, labels: Labels) -> Iterator[doc.Words]:
    """Metrics that were measured and could not be judged, by reason."""
    already = {(missing.cell, missing.reason) for missing in breakdown.comparison.missing}
    groups: dict[str, list[tuple[Cell, str, str]]] = defaultdict(list)
    for verdict in breakdown.comparison.undecided:
        reason = verdict.reason or "no reason was given"
        if (verdict.cell, reason) not in already:
            groups[_kind_of(reason)].append((verdict.cell, verdict.metric, reason))
    for found in sorted(groups.values(), key=len, reverse=True):
        metrics = [name(metric) for metric in known_first((m for _, m, _ in found), METRICS)]
        cells = {cell for cell, _, _ in found}
        reasons = [reason for _, _, reason in found]
        where = (*enumerated(metrics, 3, "metric"), " in ", *labels.cells(cells))
        yield (doc.Strong("Undecided"), ": ", *where, ". ", *_one_of(reasons))


def _differences(breakdown: Breakdown) -> Iterator[doc.Words]:
    """Other differences between the two sides, which may cause what changed."""
    found = breakdown.comparison.differences
    if not found:
        return
    # A requirement explains; the interpreter and the processor matter more than package 100.
    both = sorted(
        (each for each in found if each.base and each.head),
        key=lambda each: (not each.because, each.what not in ("python", "numba", "cpu", "os")),
    )
    named: list[doc.Words] = []
    for one in both[:_NAMED_DIFFERENCES]:
        why = (" (", name(one.because), ")") if one.because else ()
        versions = name(one.base or ""), " → ", name(one.head or "")
        named.append((name(one.what), " ", *versions, *why))
    named += rest_of(len(both), _NAMED_DIFFERENCES, "package")
    for side, alone in (
        ("BASE", [each.what for each in found if not each.head]),
        ("HEAD", [each.what for each in found if not each.base]),
    ):
        if alone:
            named.append(
                (f"only {side} needs ", *enumerated([name(one) for one in alone], 3, "package"))
            )
    yield (doc.Strong("Other differences"), ": ", *joined(named), ". They may cause what changed.")


def _one_of(reasons: list[str]) -> doc.Words:
    """The reason, or the first of several that differ only in their numbers."""
    one = sentence(reasons[0], _LONGEST)
    return ("For example, ", *one) if len(set(reasons)) > 1 else one


def _kind_of(reason: str) -> str:
    """The reason without its numbers, to group by."""
    return re.sub(r"\d[\d.,]*", "#", reason)
