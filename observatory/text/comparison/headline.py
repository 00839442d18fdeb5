"""The first sentence of a comparison: the verdict, what changed, where and by how much."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.catalogue import METRICS, REUSE_LOST, WRONG_VALUES
from observatory.analyze.comparison.rules import ONCE
from observatory.store.records.comparison import Verdict
from observatory.text.comparison.breakdown import CRASHED, WRONG, Breakdown, Labels
from observatory.text.comparison.phrases import by_metric, claim, joined, name, rest_of, worst
from observatory.text.document import State, Words
from observatory.text.units import count
from observatory.text.words import several

_CLAIMS = 3
"""A longer sentence is not read."""
_COUNTS = (*METRICS.values(), REUSE_LOST)
_WORSE = {one.name: one.rose for one in _COUNTS if one.rose}
"""The claims about counts that rose, by 1 and by several; the worst first."""
_BETTER = {one.name: one.fell for one in _COUNTS if one.fell}


def state_of(breakdown: Breakdown) -> State:
    """The verdict on the whole comparison."""
    if breakdown.worse:
        return "worse"
    if breakdown.unjudged or not breakdown.cells:
        return "undecided"
    return "better" if breakdown.better else "unaffected"


def headline(breakdown: Breakdown, labels: Labels) -> Words:
    """The verdict sentence, without a full stop."""
    if breakdown.worse:
        return _alarming(breakdown, labels)
    if all(verdict.conclusion == "undecided" for verdict in breakdown.comparison.verdicts):
        return ("Nothing could be judged: no cell was measured well enough on both sides",)
    calm = _quiet(breakdown)
    if breakdown.improved:
        claims = _shortened(improvements(breakdown.improved, labels))
        calm = ("HEAD is better: ", *claims, "; nothing got worse", _rest(breakdown))
    if breakdown.in_both:
        where = labels.crowd({verdict.cell for verdict in breakdown.in_both})
        return (*calm, "; both BASE and HEAD crash or give wrong values in ", *where)
    return calm


def improvements(verdicts: Sequence[Verdict], labels: Labels) -> list[Words]:
    """A claim for each metric that got better; a faster build comes with the hits it follows."""
    exact = [verdict for verdict in verdicts if verdict.kind == "exact"]
    hit = {verdict.cell for verdict in exact}
    noisy = [verdict for verdict in verdicts if verdict.kind != "exact"]
    following = [v for v in noisy if v.metric == "compile_time" and v.cell in hit]
    measured = [v for v in noisy if v.metric != "compile_time" or v.cell not in hit]
    return _claims(exact, following, measured, labels, _BETTER)


def consequences(verdicts: Sequence[Verdict]) -> Words:
    """A claim for each measured metric, with the numbers of its worst cell.

    "compiling is slower (up to ×18, 0.25 → 4.53 s, 95 % interval ×17 to ×19)"
    """
    found = list(by_metric(verdicts).values())[:_CLAIMS]
    return joined(claim(each, sure=True) for each in found)


def _alarming(breakdown: Breakdown, labels: Labels) -> Words:
    worse = breakdown.comparison.worse
    exact = [verdict for verdict in worse if verdict.kind == "exact"]
    measured = [verdict for verdict in breakdown.unexplained if verdict.kind != "exact"]
    explained = [v for v in worse if v.kind != "exact" and v.cause in breakdown.by_cause]
    claims = _shortened(_claims(exact, explained, measured, labels, _WORSE))
    metrics = {verdict.metric for verdict in exact}
    if not metrics.isdisjoint(WRONG_VALUES):
        return ("Do not merge: ", *claims)
    return claims if CRASHED in metrics else ("HEAD is worse: ", *claims)


def _claims(
    exact: Sequence[Verdict],
    following: Sequence[Verdict],
    measured: Sequence[Verdict],
    labels: Labels,
    phrases: dict[str, tuple[str, str]],
) -> list[Words]:
    """A claim for each metric: counts first, each with what follows from it in its cells."""
    claims: list[Words] = []
    left = list(following)
    for metric, found in by_metric(exact, phrases).items():
        words = _claim(metric, found, labels, phrases)
        cells = {verdict.cell for verdict in found}
        if inside := by_metric(verdict for verdict in left if verdict.cell in cells):
            left = [verdict for verdict in left if verdict.cell not in cells]
            # The first metric is enough: compile_time if it is among them.
            words = (*words, ", where ", *claim(next(iter(inside.values()))))
        claims.append(words)
    rest = by_metric([*left, *measured]).items()
    return [*claims, *(_claim(metric, found, labels, phrases) for metric, found in rest)]


def _quiet(breakdown: Breakdown) -> Words:
    judged = len(breakdown.cells) - len(breakdown.unjudged)
    if breakdown.unjudged:
        where = several(judged, "cell") if judged else "what could be judged"
        return (f"Nothing got worse in {where}", _rest(breakdown))
    all_are = "the only cell is" if judged == 1 else f"all {count(judged)} cells are"
    if breakdown.comparison.workload:
        return (f"Nothing got worse: HEAD compiles another graph, and {all_are} unaffected",)
    counted = all(verdict.kind != "noisy" for verdict in breakdown.comparison.verdicts)
    where = " in what is counted" if counted else ""
    return (f"Nothing changed{where}: {all_are} unaffected",)


def _rest(breakdown: Breakdown) -> str:
    """How many cells could not be judged, and whether only their times and memory."""
    if not breakdown.unjudged:
        return ""
    rest = f"{count(len(breakdown.unjudged))} of {several(len(breakdown.cells), 'cell')}"
    counted = all(verdict.kind == "noisy" for verdict in breakdown.comparison.undecided)
    if counted and not breakdown.comparison.missing:
        return f"; times or memory of {rest} could not be judged"
    return f"; {rest} could not be fully judged"


def _claim(
    metric: str,
    verdicts: Sequence[Verdict],
    labels: Labels,
    phrases: dict[str, tuple[str, str]],
) -> Words:
    where = labels.crowd({verdict.cell for verdict in verdicts})
    first = verdicts[0]
    if first.kind != "exact":
        return claim(verdicts, ("every process",) if metric in ONCE else where)
    rises = {abs(worst(verdict.head) - worst(verdict.base)) for verdict in verdicts}
    up_to = "up to " if len(rises) > 1 and metric not in (WRONG, CRASHED) else ""
    most = max(rises)
    if metric in phrases:
        one, more = phrases[metric]
        return (f"{up_to}{one if most == 1 else more.format(count(most))} in ", *where)
    verb = "rises" if first.conclusion == "worse" else "falls"
    return (name(metric), f" {verb} by {up_to}{count(most)} in ", *where)


def _shortened(claims: Sequence[Words]) -> Words:
    return joined((*claims[:_CLAIMS], *rest_of(len(claims), _CLAIMS, "change")))
