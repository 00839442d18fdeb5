"""Verdicts on two sides, cell by cell and metric by metric: each kind by the method that fits it.

exact
    Plain inequality, no threshold. A count that differs between two samples of one side is not
    deterministic and is not judged.
near_exact
    Changed where the values of the two sides are further apart than values of one side are; of
    these only `python_calls` can be worse, from MATERIAL on. The others describe.
noisy
    `observatory.decide.noisy`. The parts of compile_time are evidence and not judged beside it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from statistics import median
from typing import Literal

from benchmarks.catalogue import CORRECTNESS, Cell, Metric, metrics_of
from observatory.decide import noisy
from observatory.decide.evidence import Evidence
from observatory.decide.floors import Floors
from observatory.decide.reuse import reuse_lost
from observatory.decide.units import count, percent
from observatory.record.comparison import Conclusion, Missing, Ratio, Values, Verdict

JUDGED_NOISY = ("compile_time", "call_time", "import_time", "peak_rss")
_TIMES = ("compile_time", "call_time")
ONCE = ("import_time",)
"""The same thing in every cell: judged once for a model, under its first cell."""
_MOST_VALUES = 1000
MATERIAL = 0.02
"""Relative change of python_calls from which it is worse or better and not just another graph."""


@dataclass
class Judged:
    """The verdicts on some cells, and what could not be compared."""

    verdicts: list[Verdict] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)


def judge_exact(cells: Iterable[Cell], base: Evidence, head: Evidence, floors: Floors) -> Judged:
    """Verdicts on the exact and near-exact metrics of these cells, and on lost reuse."""
    judged = Judged()
    for cell in cells:
        if missing := _missing(cell, base, head):
            judged.missing.append(missing)
        for metric in metrics_of(cell.scenario, cell.launch):
            if metric.kind == "noisy":
                continue
            old, new = base.values(cell, metric), head.values(cell, metric)
            if not (old.values and new.values):
                continue
            if metric.kind == "exact":
                judged.verdicts.append(_exact(cell, metric, old, new))
            else:
                spread = floors.spread(cell, metric.name)
                judged.verdicts.append(_near_exact(cell, metric, old, new, spread))
        if (lost := reuse_lost(cell, base.ledger(cell), head.ledger(cell))) is not None:
            judged.verdicts.append(lost)
    return judged


def judge_noisy(
    cells: Iterable[Cell],
    base: Evidence,
    head: Evidence,
    floors: Floors,
    seed: int,
    incomparable: str | None = None,
    wanted: Collection[Cell] = (),
) -> list[Verdict]:
    """Verdicts on the noisy metrics: tested each, then controlled over the cells of each metric.

    ``incomparable``: why times cannot be compared at all, if so; every verdict is undecided then.
    ``wanted``: cells whose time is undecided, rather than not spoken of, where none was taken.
    """
    given = list(_noisy_values(cells, base, head, wanted))
    own = [min(old.n, new.n) for _, metric, old, new in given if metric.name not in ONCE]
    most = max(own, default=0)
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
            old, new = base.values(cell, metric), head.values(cell, metric)
            asked = cell in wanted and metric.name in _TIMES
            if metric.name not in JUDGED_NOISY or not (asked or (old.values and new.values)):
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


def _exact(cell: Cell, metric: Metric, old: Values, new: Values) -> Verdict:
    conclusion, reason = _exact_conclusion(cell, metric, old, new)
    return Verdict(
        cell=cell,
        metric=metric.name,
        unit=metric.unit,
        kind="exact",
        conclusion=conclusion,
        base=old,
        head=new,
        reason=reason,
    )


def _exact_conclusion(
    cell: Cell, metric: Metric, old: Values, new: Values
) -> tuple[Conclusion, str | None]:
    if metric.name in CORRECTNESS:
        # The worst sample speaks: one wrong number is one too many.
        before, after = max(old.values), max(new.values)
        both = f"{metric.name} is {count(after)} in both" if before == after > 0 else None
        return _against(before, after), both
    for side, values in (("BASE", old.values), ("HEAD", new.values)):
        if len(set(values)) > 1:
            said = ", ".join(count(value) for value in values)
            return "undecided", f"{metric.name} is not deterministic: {said} in samples of {side}"
    conclusion = _against(old.values[0], new.values[0])
    if conclusion != "unaffected" and not metric.alerts_in(cell.scenario):
        return "workload changed", None
    return conclusion, None


def _against(before: float, after: float) -> Conclusion:
    if after == before:
        return "unaffected"
    return "worse" if after > before else "better"


def _near_exact(cell: Cell, metric: Metric, old: Values, new: Values, spread: float) -> Verdict:
    ratio = _range(old.values, new.values)
    conclusion: Conclusion = "unaffected"
    if ratio is None:
        conclusion = "unaffected" if old.values == new.values else "workload changed"
    elif ratio.low > 1 + spread or ratio.high < 1 / (1 + spread):
        conclusion = "workload changed"
        if metric.name == "python_calls" and abs(ratio.estimate - 1) >= MATERIAL:
            conclusion = "worse" if ratio.estimate > 1 else "better"
    return Verdict(
        cell=cell,
        metric=metric.name,
        unit=metric.unit,
        kind="near_exact",
        conclusion=conclusion,
        base=old,
        head=new,
        ratio=ratio,
        minimum_effect=MATERIAL if metric.name == "python_calls" else None,
    )


def _range(old: list[float], new: list[float]) -> Ratio | None:
    """HEAD over BASE with the range of all values; None where a count is 0."""
    if min(*old, *new) <= 0:
        return None
    return Ratio(
        estimate=median(new) / median(old),
        low=min(new) / max(old),
        high=max(new) / min(old),
        confidence=None,
    )


def _noisy(one: _Contest, q_value: float | None, floors: Floors) -> Verdict:
    conclusion: Conclusion = "undecided"
    reason = None
    floor = floors.minimum_effect(one.cell, one.metric.name, one.processes)
    if not (one.old.values and one.new.values):
        reason = "no time was taken on both sides; a larger --budget leaves some for it"
    elif one.test is None:
        reason = "fewer than two positive values on a side: there is nothing to compare"
    elif q_value is None:
        reason = f"{one.processes} processes a side; at least {noisy.FEWEST} are needed"
    else:
        ratio = one.test.ratio
        conclusion = noisy.conclude(ratio, q_value, floor)
        if conclusion == "undecided":
            reason = (
                f"HEAD takes {_against_base(ratio.low)} to {_against_base(ratio.high)} "
                f"BASE: too wide to tell a change of {percent(floor)} from none"
            )
    return Verdict(
        cell=one.cell,
        metric=one.metric.name,
        unit=one.metric.unit,
        kind="noisy",
        conclusion=conclusion,
        base=one.old,
        head=one.new,
        ratio=None if one.test is None else one.test.ratio,
        p_value=None if one.test is None else one.test.p_value,
        q_value=q_value,
        minimum_effect=floor,
        reason=reason,
    )


def _against_base(ratio: float) -> str:
    """`1.9 % less than`, `7.1 % more than`."""
    return f"{percent(abs(ratio - 1))} {'less' if ratio < 1 else 'more'} than"


def _missing(cell: Cell, base: Evidence, head: Evidence) -> Missing | None:
    """What keeps a cell from being compared wholly; None if nothing does."""
    reasons = [_reason(cell, side) for side in (base, head)]
    if not any(reasons):
        return None
    said = dict.fromkeys(reason for reason in reasons if reason)
    where: Literal["base", "head", "both"] = "both" if all(reasons) else "head"
    if reasons[1] is None:
        where = "base"
    return Missing(cell=cell, side=where, reason="; ".join(said)[:4000])


def _reason(cell: Cell, side: Evidence) -> str | None:
    samples = side.taken(cell)
    if not samples:
        return "it was not measured"
    if (unavailable := side.unavailable(cell)) is not None:
        return unavailable
    failures = side.failures(cell)
    if not failures:
        return None
    failure = failures[-1].failure
    how = failure.message if failure else failures[-1].status
    return f"{len(failures)} of {len(samples)} samples failed: {how}"
