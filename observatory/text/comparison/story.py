"""The whole text of a comparison, in reading order.

The verdict; the two sides; what could not be judged; causes, with wrong results and crashes first;
times; what got better; the changed workload; how to repeat it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from benchmarks.catalogue import METRICS, Cell
from observatory.store.records.comparison import Comparison, Side
from observatory.text import document as doc
from observatory.text.comparison.breakdown import TOLD_IF_SAME, Breakdown, Labels
from observatory.text.comparison.headline import headline, state_of
from observatory.text.comparison.phrases import enumerated, joined, name, rest_of, sentence
from observatory.text.comparison.sections import (
    better,
    causes,
    remarks,
    slower,
    unexplained,
    workload,
)
from observatory.text.plain import shorten
from observatory.text.units import count, percent, seconds
from observatory.text.words import known_first, listed, several

_LONGEST_COMMAND = 4000
_LONGEST = 300
_VISIBLE = 4
_MOST = 60
_NAMED_DIFFERENCES = 3


def tell(comparison: Comparison) -> doc.Story:
    """Everything about a comparison, for a renderer: GitHub or a terminal."""
    breakdown, labels = Breakdown(comparison), Labels.of(comparison)
    careful = cautions(breakdown, labels)
    sides, counted = _sides(comparison, labels), _counted(breakdown)
    measured = doc.Points(tuple(_circumstances(breakdown)))
    # What could not be judged comes before the numbers that depend on it.
    lines = [sides, counted] if careful else [(*sides, " ", *counted)]
    first, *others = (
        doc.Part(2, "what was compared", (doc.Paragraph(words),)) for words in lines if words
    )
    parts = [
        first,
        *careful,
        *others,
        *causes(breakdown, labels),
        *unexplained(breakdown, labels),
        *slower(breakdown, labels),
        *remarks(breakdown, labels),
        *better(breakdown, labels),
        *workload(breakdown, labels),
        doc.Part(9, "how it was measured", (doc.Folded("How it was measured", (measured,)),)),
    ]
    if comparison.reproduce.strip():
        command = doc.Command(shorten(comparison.reproduce, _LONGEST_COMMAND))
        repeat = doc.Paragraph(("To repeat this comparison:",))
        blocks: tuple[doc.Block, ...] = (repeat, command, *_flame_graph(comparison, labels))
        parts.append(doc.Part(2, "how to repeat it", blocks))
    return doc.Story(state_of(breakdown), headline(breakdown, labels), tuple(parts))


def _flame_graph(comparison: Comparison, labels: Labels) -> Iterator[doc.Paragraph]:
    if comparison.profiled is not None:
        cell = labels.cell(comparison.profiled)
        yield doc.Paragraph(
            ("It also draws where the work of ", cell, " goes, as a flame graph: ",
             doc.Name("profile.html"), ", beside its samples.")
        )  # fmt: skip


def _sides(comparison: Comparison, labels: Labels) -> doc.Words:
    """What BASE and HEAD are."""
    base, head = (name(side.subject.label) for side in (comparison.base, comparison.head))
    both: doc.Words = ("BASE and HEAD are both ", base)
    words: doc.Words = both if base == head else ("BASE is ", base, ", HEAD is ", head)
    model = () if labels.model is None else (", the model is ", name(labels.model))
    return (*words, *model, ".")


def _counted(breakdown: Breakdown) -> doc.Words:
    """The number of cells by verdict, and the change that the unaffected ones exclude."""
    numbers = (
        (len(breakdown.worse), "worse"),
        (len(breakdown.better), "better"),
        (len(breakdown.unjudged), "not fully judged"),
        (len(breakdown.unaffected), "unaffected"),
    )
    groups = [f"{count(number)} {word}" for number, word in numbers if number]
    sentences = []
    if len(groups) > 1:
        sentences.append(f"{several(len(breakdown.cells), 'cell')}: {', '.join(groups)}.")
    if not breakdown.worse and (excluded := _ruled_out(breakdown)):
        sentences.append(excluded)
    return (" ".join(sentences),) if sentences else ()


def _ruled_out(breakdown: Breakdown) -> str:
    """The largest change that the unaffected times may hide."""
    changes = []
    for metric, verb in (("compile_time", "compiling"), ("call_time", "calling")):
        own = [v for v in breakdown.comparison.verdicts if v.metric == metric]
        effects = [v.minimum_effect for v in own if v.conclusion == "unaffected"]
        if found := [effect for effect in effects if effect is not None]:
            changes.append(f"{percent(max(found))} in {verb}")
    return f"Unaffected cells changed by at most {listed(changes)}." if changes else ""


def _circumstances(breakdown: Breakdown) -> Iterator[doc.Words]:
    comparison = breakdown.comparison
    how = "alternately, in one run" if comparison.interleaved else "in separate runs"
    processes = sorted(
        {n for v in comparison.verdicts if v.kind == "noisy" for n in (v.base.n, v.head.n)}
    )
    sentences = f"BASE and HEAD were measured {how}. "
    if processes:
        ends = " to ".join(dict.fromkeys((count(processes[0]), count(processes[-1]))))
        sentences += f"A time is the median of {ends} processes. "
    floors = {
        verdict.metric: verdict.minimum_effect
        for verdict in comparison.verdicts
        if verdict.kind == "near_exact" and verdict.minimum_effect
    }
    work: doc.Words = ()
    for floor in sorted(set(floors.values())):
        metrics = [name(metric) for metric in sorted(floors) if floors[metric] == floor]
        least = f" counts from {percent(floor)} on"
        work += ("; a change of ", *enumerated(metrics, 3, "metric"), least)
    yield (f"{sentences}Counts are exact, and are compared without statistics", *work, ".")
    took = f", in {seconds(comparison.seconds)}" if comparison.seconds > 0 else ""
    started = doc.Name(comparison.started_at.isoformat(timespec="minutes"))
    tool = name(comparison.observatory)
    yield ("Started at ", started, f"{took}, with observatory ", tool,
           f" and seed {count(comparison.seed)}.")  # fmt: skip
    for word, side in (("BASE", comparison.base), ("HEAD", comparison.head)):
        yield (f"{word}: ", *_side(side))


def _side(side: Side) -> doc.Words:
    numba = (", numba ", name(side.versions.numba)) if side.versions.numba else ()
    cpu = (" (", name(side.machine.cpu), ")") if side.machine.cpu else ()
    return (
        "pytensor ", name(side.versions.pytensor), *numba,
        ", Python ", name(side.versions.python), ", on ", name(side.machine.machine), *cpu,
    )  # fmt: skip


def cautions(breakdown: Breakdown, labels: Labels) -> list[doc.Part]:
    """A section that is read first, and a folded one for the rest."""
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
        reason = "HEAD crashes there: see below" if explained else missing.reason
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
    # The interpreter and the processor matter more than the hundredth package.
    first = sorted(found, key=lambda each: each.what not in ("python", "numba", "cpu", "os"))
    named: list[doc.Words] = []
    for one in first[:_NAMED_DIFFERENCES]:
        base, head = (name(version) if version else "absent" for version in (one.base, one.head))
        named.append((name(one.what), " ", base, " → ", head))
    shown = joined((*named, *rest_of(len(first), _NAMED_DIFFERENCES, "package")))
    yield (doc.Strong("Other differences"), ": ", *shown, ". They may cause what changed.")


def _one_of(reasons: list[str]) -> doc.Words:
    """The reason, or the first of several that differ only in their numbers."""
    one = sentence(reasons[0], _LONGEST)
    return ("For example, ", *one) if len(set(reasons)) > 1 else one


def _kind_of(reason: str) -> str:
    """The reason without its numbers, to group by."""
    return re.sub(r"\d[\d.,]*", "#", reason)
