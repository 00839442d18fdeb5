"""Verdicts on two sides, cell by cell and metric by metric, by the rules of `decide.rules`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from benchmarks.catalogue import CORRECTNESS, METRICS, Cell, Metric, headline_time, metrics_of
from observatory.analyze.comparison import noisy
from observatory.analyze.comparison.evidence import Evidence
from observatory.analyze.comparison.noise_floors import NoiseFloors
from observatory.analyze.comparison.reuse import reuse_lost
from observatory.analyze.comparison.rules import JUDGED_NOISY, Concluded, conclude, rule_of
from observatory.store.records.comparison import Conclusion, Missing, Values, Verdict
from observatory.text import reasons
from observatory.text.units import count

ONCE = tuple(name for name, one in METRICS.items() if one.once)
"""The same thing in every cell: judged once for a model, under its first cell."""
_MOST_VALUES = 1000


@dataclass
class Verdicts:
    """The verdicts on some cells, and what could not be compared."""

    verdicts: list[Verdict] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)


def judge_exact(
    cells: Iterable[Cell], base: Evidence, head: Evidence, floors: NoiseFloors
) -> Verdicts:
    """Verdicts on the exact and near-exact metrics of these cells, and on lost reuse."""
    judged = Verdicts()
    for cell in cells:
        if missing := _missing(cell, base, head):
            judged.missing.append(missing)
        for metric in metrics_of(cell.scenario, cell.launch):
            if metric.kind == "noisy":
                continue
            old, new = base.values(cell, metric), head.values(cell, metric)
            if old.values and new.values:
                judged.verdicts.append(_counted(cell, metric, old, new, floors))
        if (lost := reuse_lost(cell, base.ledger(cell), head.ledger(cell))) is not None:
            judged.verdicts.append(lost)
    return judged


def judge_noisy(
    cells: Iterable[Cell],
    base: Evidence,
    head: Evidence,
    floors: NoiseFloors,
    seed: int,
    incomparable: str | None = None,
    wanted: Collection[Cell] = (),
    conclusions_only: bool = False,
) -> list[Verdict]:
    """Verdicts on the noisy metrics: tested each, then controlled over the cells of each metric.

    ``incomparable``: why times cannot be compared at all, if so; every verdict is undecided then.
    ``wanted``: cells whose time is undecided, rather than not mentioned, where none was taken.
    ``conclusions_only``: leave out what no conclusion depends on, which takes most of the time: p
    of metrics that are nowhere beyond their minimum effect, and ratios of too few processes.
    """
    given = list(_noisy_values(cells, base, head, wanted))
    own = [min(old.n, new.n) for _, metric, old, new in given if metric.name not in ONCE]
    most = max(own, default=0)
    if conclusions_only and not floors.interleaved:
        contests = list(_concluded(given, floors, seed, most))
    else:
        contests = [_contest(*one, floors.interleaved, seed, most) for one in given]
    found = [(o.metric.name, o.test.over_looks) for o in contests if o.test and o.enough]
    q_values = iter(noisy.discoveries(found))
    verdicts = []
    for one in contests:
        verdict = _noisy(one, next(q_values) if one.test and one.enough else None, floors)
        if incomparable is not None:
            change = {"conclusion": "undecided", "reason": incomparable}
            verdict = verdict.model_copy(update=change)
        verdicts.append(verdict)
    return verdicts


@dataclass(frozen=True)
class _Contest:
    """The values of one noisy metric on both sides, and their test where there is one."""

    cell: Cell
    metric: Metric
    old: Values
    new: Values
    test: noisy.Tested | None

    @property
    def processes(self) -> int:
        """On the side that has fewer."""
        return min(self.old.n, self.new.n)

    @property
    def testable(self) -> bool:
        """Whether there is a ratio of its values at all."""
        return self.processes >= 2 and min(*self.old.values, *self.new.values) > 0

    @property
    def enough(self) -> bool:
        """Whether it is judged."""
        return self.processes >= noisy.FEWEST


def _noisy_values(
    cells: Iterable[Cell], base: Evidence, head: Evidence, wanted: Collection[Cell]
) -> Iterator[tuple[Cell, Metric, Values, Values]]:
    """The values of every noisy metric of every cell; of what is one thing in all, once."""
    once: dict[tuple[str, str], tuple[Cell, Metric, Values, Values]] = {}
    for cell in cells:
        for metric in metrics_of(cell.scenario, cell.launch):
            if metric.name not in JUDGED_NOISY:
                continue
            old, new = base.values(cell, metric), head.values(cell, metric)
            asked = cell in wanted and metric.name == headline_time(cell.scenario)
            if not (asked or (old.values and new.values)):
                continue
            if metric.name in ONCE:
                key = (cell.model, metric.name)
                place = once.get(key, (cell, metric, Values(values=[]), Values(values=[])))
                once[key] = (*place[:2], _joined(place[2], old), _joined(place[3], new))
            else:
                yield cell, metric, old, new
    yield from once.values()


def _joined(first: Values, second: Values) -> Values:
    both = [*first.values, *second.values]
    return Values(values=both[:_MOST_VALUES], failed=first.failed + second.failed)


def _concluded(
    given: Sequence[tuple[Cell, Metric, Values, Values]], floors: NoiseFloors, seed: int, most: int
) -> Iterator[_Contest]:
    """The contests of runs that were not interleaved, tested only as far as conclusions need it."""
    contests = [_Contest(*one, None) for one in given]
    for metric in dict.fromkeys(one.metric for one in contests):
        own = [one for one in contests if one.metric is metric]
        judged = [one for one in own if one.enough and one.testable]
        yield from (one for one in own if not (one.enough and one.testable))
        sides = [
            (
                one.old.values, one.new.values,
                floors.minimum_effect(one.cell, metric.name, one.processes),
            )
            for one in judged
        ]  # fmt: skip
        found = noisy.foreseen(sides, seed)
        for number, one in enumerate(judged):
            if found is None:
                yield _contest(one.cell, metric, one.old, one.new, False, seed, most)
            else:
                yield replace(one, test=found[number])


def _contest(
    cell: Cell, metric: Metric, old: Values, new: Values, interleaved: bool, seed: int, most: int
) -> _Contest:
    """``most``: processes a side of the cell that has most; what is judged once is of all cells."""
    test = None
    look = most or None if metric.name in ONCE else None
    if min(old.n, new.n) >= 2 and min(*old.values, *new.values) > 0:
        # Where a sample failed, nobody knows any more which values were taken side by side.
        paired = interleaved and not (old.failed or new.failed)
        test = noisy.tested(old.values, new.values, seed, paired=paired, look=look)
    return _Contest(cell, metric, old, new, test)


def _counted(cell: Cell, metric: Metric, old: Values, new: Values, floors: NoiseFloors) -> Verdict:
    rule = rule_of(metric, cell.scenario, floors.change(cell, metric.name))
    found = conclude(rule, old.values, new.values)
    return Verdict(
        cell=cell, metric=metric.name, unit=metric.unit,
        kind="exact" if rule.kind == "exact" else "near_exact",
        conclusion=found.conclusion, base=old, head=new, ratio=found.ratio,
        minimum_effect=rule.material, reason=_why(metric, old, new, found),
    )  # fmt: skip


def _why(metric: Metric, old: Values, new: Values, found: Concluded) -> str | None:
    if found.uneven is not None:
        values = old.values if found.uneven == "BASE" else new.values
        return reasons.not_deterministic(metric.name, values, found.uneven)
    if metric.name in CORRECTNESS and max(old.values) == max(new.values) > 0:
        return reasons.SAME_IN_BOTH.format(metric.name, count(max(new.values)))
    return None


def _noisy(one: _Contest, q_value: float | None, floors: NoiseFloors) -> Verdict:
    conclusion: Conclusion = "undecided"
    reason = None
    floor = floors.minimum_effect(one.cell, one.metric.name, one.processes)
    if not (one.old.values and one.new.values):
        reason = reasons.NO_TIME
    elif not one.testable:
        reason = reasons.NO_RATIO
    elif one.test is None or q_value is None:
        reason = reasons.TOO_FEW.format(one.processes, noisy.FEWEST)
    else:
        ratio = one.test.ratio
        conclusion = noisy.conclude(ratio, q_value, floor)
        if conclusion == "undecided":
            reason = reasons.too_wide(ratio.low, ratio.high, floor)
    return Verdict(
        cell=one.cell, metric=one.metric.name, unit=one.metric.unit, kind="noisy",
        conclusion=conclusion, base=one.old, head=one.new,
        ratio=None if one.test is None else one.test.ratio,
        p_value=None if one.test is None else one.test.p_value,
        q_value=q_value, minimum_effect=floor, reason=reason,
    )  # fmt: skip


def _missing(cell: Cell, base: Evidence, head: Evidence) -> Missing | None:
    """What keeps a cell from being compared wholly; None if nothing does."""
    found = [_reason(cell, side) for side in (base, head)]
    if not any(found):
        return None
    said = dict.fromkeys(reason for reason in found if reason)
    where: Literal["base", "head", "both"] = "both" if all(found) else "head"
    if found[1] is None:
        where = "base"
    return Missing(cell=cell, side=where, reason="; ".join(said)[:4000])


def _reason(cell: Cell, side: Evidence) -> str | None:
    samples = side.taken(cell)
    if not samples:
        return reasons.NOT_MEASURED
    if (unavailable := side.unavailable(cell)) is not None:
        return unavailable
    failures = side.failures(cell)
    return reasons.samples_failed(failures, len(samples)) if failures else None
