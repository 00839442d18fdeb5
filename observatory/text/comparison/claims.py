"""What changed, metric by metric: what, where and by how much. The first is the headline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from observatory.analyze.comparison.rules import ONCE
from observatory.benchmarks.catalogue import COMPARED
from observatory.store.records.comparison import Verdict
from observatory.text.comparison.breakdown import CRASHED, WRONG, Breakdown, Labels
from observatory.text.comparison.phrases import (
    amount,
    by_metric,
    claim,
    extent,
    joined,
    name,
    what_changed,
    worst,
)
from observatory.text.document import Words
from observatory.text.units import change, count

_COUNTS = tuple(COMPARED.values())
_WORSE = {one.name: one.rose for one in _COUNTS if one.rose}
"""The claims about counts that rose, by 1 and by several; the worst first."""
_BETTER = {one.name: one.fell for one in _COUNTS if one.fell}
_EFFECTS = 3


@dataclass(frozen=True)
class Claim:
    """One change: "compiling is slower" in "2 `call` cells", "up to +9.1 %, 387 → 422 ms"."""

    what: Words
    where: Words
    size: Words
    metrics: tuple[str, ...] = ()
    """What it is about: the metric, and the one that follows from it."""

    @property
    def words(self) -> Words:
        """Where what happens, without its size."""
        return (*self.what, " in ", *self.where)


def alarms(breakdown: Breakdown, labels: Labels) -> list[Claim]:
    """A claim for each metric that got worse: counts first, the worst before the others.

    Times that follow from a cause are told with the count that shows it.
    """
    worse = breakdown.comparison.worse
    exact = [verdict for verdict in worse if verdict.kind == "exact"]
    measured = [verdict for verdict in breakdown.unexplained if verdict.kind != "exact"]
    explained = [v for v in worse if v.kind != "exact" and v.cause in breakdown.by_cause]
    return _claims(exact, explained, measured, labels, _WORSE)


def improvements(verdicts: Sequence[Verdict], labels: Labels) -> list[Claim]:
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
    found = list(by_metric(verdicts).values())[:_EFFECTS]
    return joined(claim(each, sure=True) for each in found)


def _claims(
    exact: Sequence[Verdict],
    following: Sequence[Verdict],
    measured: Sequence[Verdict],
    labels: Labels,
    phrases: Mapping[str, tuple[str, str]],
) -> list[Claim]:
    """A claim for each metric: counts first, each with what follows from it in its cells."""
    claims: list[Claim] = []
    left = list(following)
    for metric, found in by_metric(exact, phrases).items():
        cells = {verdict.cell for verdict in found}
        effect: Words = ()
        about: tuple[str, ...] = (metric,)
        if inside := by_metric(verdict for verdict in left if verdict.cell in cells):
            left = [verdict for verdict in left if verdict.cell not in cells]
            # The first metric is enough: compile_time if it is among them.
            following_metric, own = next(iter(inside.items()))
            effect, about = ("; ", *claim(own)), (metric, following_metric)
        claims.append(replace(_counted(metric, found, labels, phrases, effect), metrics=about))
    for metric, found in by_metric([*left, *measured]).items():
        cells = {verdict.cell for verdict in found}
        where: Words = ("every process",) if metric in ONCE else labels.crowd(cells)
        claims.append(Claim(what_changed(found), where, (amount(found),), (metric,)))
    return claims


def _counted(
    metric: str,
    verdicts: Sequence[Verdict],
    labels: Labels,
    phrases: Mapping[str, tuple[str, str]],
    effect: Words,
) -> Claim:
    where = labels.crowd({verdict.cell for verdict in verdicts})
    first = max(verdicts, key=extent)
    base, head = worst(first.base), worst(first.head)
    rises = {abs(worst(verdict.head) - worst(verdict.base)) for verdict in verdicts}
    up_to = "up to " if len(rises) > 1 and metric not in (WRONG, CRASHED) else ""
    size = (change(base, head, first.unit), *effect)
    if metric in phrases:
        one, more = phrases[metric]
        most = max(rises)
        told = one if most == 1 else more.format(f"{up_to}{count(most)}")
        return Claim((told,), where, size)
    verb = "rises" if first.conclusion == "worse" else "falls"
    return Claim((name(metric), f" {verb} by {up_to}{count(max(rises))}"), where, size)
