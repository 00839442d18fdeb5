"""What a reader needs first: the two sides, what changed, and how many cells by how much."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import exp, fsum, log
from sys import float_info

from observatory.analyze.comparison.rules import ONCE
from observatory.store.records.comparison import Comparison, Verdict
from observatory.text import document as doc
from observatory.text.comparison.breakdown import Breakdown, Labels
from observatory.text.comparison.claims import Claim, alarms, improvements
from observatory.text.comparison.headline import is_of_speed
from observatory.text.comparison.names import Names, capitalised
from observatory.text.comparison.phrases import by_metric, factor, name, rest_of
from observatory.text.units import count, percent, signed, span
from observatory.text.words import listed, several

_CLAIMS = 6
_TERM = "reference/glossary.md#{}"
_CONCLUSIONS = ("worse", "better")
_TINY = float_info.min


def overview(breakdown: Breakdown, labels: Labels, names: Names) -> Iterator[doc.Part]:
    """The sides, a table of what changed, and a table of how many cells changed by how much."""
    sides = doc.Paragraph((*_sides(labels, names), " ", *_counted(breakdown)))
    yield doc.Part(1, "what was compared", (sides,))
    if breakdown.worse:
        yield from _table_of(alarms(breakdown, labels), "worse")
    elif breakdown.improved:
        yield from _table_of(improvements(breakdown.improved, labels), "better")
    yield from _summary(breakdown.comparison)


def _table_of(claims: Sequence[Claim], word: str) -> Iterator[doc.Part]:
    rows = tuple((one.what, one.where, one.size) for one in claims[:_CLAIMS])
    rest = map(doc.Paragraph, rest_of(len(claims), _CLAIMS, "change"))
    table = doc.Table((f"what is {word}", "where", "by how much"), rows)
    yield doc.Part(2, f"what is {word}", (table, *rest))


def _summary(comparison: Comparison) -> Iterator[doc.Part]:
    """How many cells have more or less of each time and work: the number, mean and range."""
    rows: list[tuple[doc.Words, ...]] = []
    changed = [
        verdict
        for verdict in comparison.verdicts
        if verdict.ratio is not None
        and verdict.conclusion in _CONCLUSIONS
        and verdict.metric not in ONCE
        and is_of_speed(verdict.metric)
    ]
    for metric, found in by_metric(changed).items():
        for conclusion, primary in product(_CONCLUSIONS, (True, False)):
            own = [v for v in found if v.conclusion == conclusion and v.cell.primary == primary]
            kind = doc.Link(
                "primary" if primary else "secondary", _TERM.format("primary-secondary")
            )
            if own:
                rows.append(((name(metric), f" {conclusion} in ", kind, " cells"), *_numbers(own)))
    if len(changed) > 1:  # one change is in the table above
        table = doc.Table(("in total", "cells", "mean", "range"), tuple(rows))
        yield doc.Part(3, "the summary", (table,))


def _numbers(verdicts: Sequence[Verdict]) -> tuple[doc.Words, ...]:
    """The number of cells, and the geometric mean and the range of HEAD over BASE."""
    ratios = [factor(verdict, verdict.ratio)[0] for verdict in verdicts if verdict.ratio]
    mean = exp(fsum(log(max(ratio, _TINY)) for ratio in ratios) / len(ratios))
    return (count(len(ratios)),), (signed(mean),), (span(min(ratios), max(ratios)),)


def _sides(labels: Labels, names: Names) -> doc.Words:
    """What is compared with what: "`3.3.7` vs `3.3.6`, model `radon`."."""
    model = () if labels.model is None else (", model ", name(labels.model))
    return (*capitalised(names.head_exactly), " vs ", *names.base_exactly, *model, ".")


def _counted(breakdown: Breakdown) -> doc.Words:
    """The number of cells by verdict, and the change that the unaffected ones exclude."""
    numbers = (
        (len(breakdown.worse), "worse"),
        (len(breakdown.better), "better"),
        (len(breakdown.unjudged), "not fully judged"),
        (len(breakdown.unaffected), "unaffected"),
    )
    groups = [f"{count(number)} {word}" for number, word in numbers if number]
    words: list[doc.Piece] = []
    if len(groups) > 1 or breakdown.worse:
        number, _, noun = several(len(breakdown.cells), "cell").rpartition(" ")
        words += [f"{number} ", doc.Link(noun, _TERM.format("cell")), f": {', '.join(groups)}."]
    if not breakdown.worse and (excluded := _ruled_out(breakdown)):
        words.append(f"{' ' * bool(words)}{excluded}")
    return tuple(words)


def _ruled_out(breakdown: Breakdown) -> str:
    """The largest change that the unaffected times may hide."""
    changes = []
    for metric, verb in (("compile_time", "compiling"), ("call_time", "calling")):
        own = [v for v in breakdown.comparison.verdicts if v.metric == metric]
        effects = [v.minimum_effect for v in own if v.conclusion == "unaffected"]
        if found := [effect for effect in effects if effect is not None]:
            changes.append(f"{percent(max(found))} in {verb}")
    return f"Unaffected cells changed by at most {listed(changes)}." if changes else ""
