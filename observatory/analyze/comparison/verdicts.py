"""Verdicts on two sides by cell and metric, from the rules of `rules` and the tests of `noisy`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from observatory.analyze.chance import FEWEST
from observatory.analyze.comparison import noisy
from observatory.analyze.comparison.evidence import Evidence, message_of
from observatory.analyze.comparison.graphs import by_graph, same_graphs
from observatory.analyze.comparison.ledgers import reuse_lost
from observatory.analyze.comparison.noise_floors import NoiseFloors
from observatory.analyze.comparison.rules import JUDGED_NOISY, ONCE, Concluded, conclude, rule_of
from observatory.analyze.statements import JudgedVerdict, Statement
from observatory.benchmarks.catalogue import (
    CORRECTNESS,
    SCENARIOS,
    Cell,
    Metric,
    headline_time,
    metrics_of,
)
from observatory.benchmarks.plan import PASSES
from observatory.store.journal.values import failed
from observatory.store.records.comparison import Conclusion, Ratio, Values, Verdict
from observatory.store.records.sample import Size

_MOST_VALUES = 1000
Side = Literal["base", "head", "both"]


_CRASHED = "crashed"


@dataclass(frozen=True)
class IncompleteCell:
    """A cell that could not be compared, or not wholly, and why: a statement for each side."""

    cell: Cell
    side: Side
    reasons: tuple[Statement, ...]


@dataclass
class Verdicts:
    """The verdicts on some cells, and what could not be compared."""

    verdicts: list[JudgedVerdict] = field(default_factory=list)
    missing: list[IncompleteCell] = field(default_factory=list)


def judge_exact(
    cells: Iterable[Cell], base: Evidence, head: Evidence, floors: NoiseFloors
) -> Verdicts:
    """Verdicts on the exact and near-exact metrics of these cells, and on lost reuse."""
    judged = Verdicts()
    for cell in cells:
        if missing := _missing(cell, base, head):
            judged.missing.append(missing)
        for metric in metrics_of(cell.scenario, cell.launch, derived=True):
            if metric.kind == "noisy":
                continue
            if (verdict := _counted(cell, metric, base, head, floors)) is not None:
                judged.verdicts.append(verdict)
        # Compaction keeps one ledger of a cell: only a comparison that measures has more.
        heads = head.ledgers(cell)[: None if floors.interleaved else 1]
        if (lost := reuse_lost(cell, base.ledger(cell), heads)) is not None:
            judged.verdicts.append(lost)
    return judged


def judge_noisy(
    cells: Iterable[Cell],
    base: Evidence,
    head: Evidence,
    floors: NoiseFloors,
    seed: int,
    incomparable: Statement | None = None,
    wanted: Collection[Cell] = (),
    conclusions_only: bool = False,
) -> list[JudgedVerdict]:
    """Verdicts on the noisy metrics: tested each, then controlled over the cells of each metric.

    ``incomparable``: why times cannot be compared at all, if so; every verdict is undecided then.
    ``wanted``: cells whose time is undecided, rather than not mentioned, where none was taken.
    ``conclusions_only``: leave out what no conclusion depends on, which takes most of the time: p
    of metrics that are nowhere beyond their minimum effect, and ratios of too few processes.
    """
    contests = list(_contests(cells, base, head, wanted))
    most = max((one.processes for one in contests if one.metric.name not in ONCE), default=0)
    if conclusions_only and not floors.interleaved:
        contests = list(_tested_briefly(contests, floors, seed, most))
    else:
        contests = [one.tested(floors.interleaved, seed, most) for one in contests]
    found = [(o.metric.name, o.test.over_looks) for o in contests if o.test and o.enough]
    q_values = iter(noisy.discoveries(found))
    verdicts = []
    for one in contests:
        verdict = _noisy(one, next(q_values) if one.test and one.enough else None, floors)
        if incomparable is not None:
            verdict = _with(verdict, "undecided", incomparable, verdict.ratio)
        verdicts.append(verdict)
    return verdicts


@dataclass(frozen=True)
class _Contest:
    """The values of one noisy metric on both sides, and their test once there is one."""

    cell: Cell
    metric: Metric
    old: Values
    new: Values
    test: noisy.Tested | None = None

    @property
    def processes(self) -> int:
        """Processes on the side that has fewer."""
        return min(self.old.n, self.new.n)

    @property
    def testable(self) -> bool:
        """Whether its values have a ratio at all."""
        return self.processes >= 2 and min(*self.old.values, *self.new.values) > 0

    @property
    def enough(self) -> bool:
        """Whether there are enough processes to judge it."""
        return self.processes >= FEWEST

    def joined(self, other: _Contest) -> _Contest:
        """The values of both, under the cell of the first."""
        old, new = (
            Values(values=[*a.values, *b.values][:_MOST_VALUES], failed=a.failed + b.failed)
            for a, b in ((self.old, other.old), (self.new, other.new))
        )
        return replace(self, old=old, new=new)

    def tested(self, interleaved: bool, seed: int, most: int) -> _Contest:
        """The same with its test, if its values have a ratio.

        ``most``: processes a side of the cell that has most. A metric that is judged once has the
        values of all cells, and their number says nothing of earlier looks.
        """
        if not self.testable:
            return self
        # Where a sample failed, nobody knows any more which values were taken side by side.
        paired = interleaved and not (self.old.failed or self.new.failed)
        look = most or None if self.metric.name in ONCE else None
        test = noisy.tested(self.old.values, self.new.values, seed, paired=paired, look=look)
        return replace(self, test=test)


def _contests(
    cells: Iterable[Cell], base: Evidence, head: Evidence, wanted: Collection[Cell]
) -> Iterator[_Contest]:
    """Every noisy metric of every cell; the metrics of ONCE once for a model, last."""
    once: dict[tuple[str, str], _Contest] = {}
    for cell in cells:
        for metric in metrics_of(cell.scenario, cell.launch):
            if metric.name not in JUDGED_NOISY:
                continue
            one = _Contest(cell, metric, base.values(cell, metric), head.values(cell, metric))
            asked = cell in wanted and metric.name == headline_time(cell.scenario)
            if not (asked or one.processes):
                continue
            if metric.name in ONCE:
                key = (cell.model, metric.name)
                once[key] = once[key].joined(one) if key in once else one
            else:
                yield one
    yield from once.values()


def _tested_briefly(
    contests: Sequence[_Contest], floors: NoiseFloors, seed: int, most: int
) -> Iterator[_Contest]:
    """The contests of separate runs, by metric, tested only as far as conclusions need it."""
    for metric in dict.fromkeys(one.metric for one in contests):
        own = [one for one in contests if one.metric is metric]
        judged = [one for one in own if one.enough and one.testable]
        yield from (one for one in own if not (one.enough and one.testable))
        found = noisy.foreseen(
            [
                (one.old.values, one.new.values,
                 floors.minimum_effect(one.cell, metric.name, one.processes))
                for one in judged
            ],
            seed,
        )  # fmt: skip
        if found is None:
            yield from (one.tested(False, seed, most) for one in judged)
        else:
            yield from (replace(one, test=test) for one, test in zip(judged, found, strict=True))


def _counted(
    cell: Cell, metric: Metric, base: Evidence, head: Evidence, floors: NoiseFloors
) -> JudgedVerdict | None:
    """The verdict on one metric of a cell; None where a side has no value of it."""
    of_graphs = by_graph(cell, metric, base, head)
    lost: Sequence[Size] = ()
    if of_graphs is None:
        old, new = base.values(cell, metric), head.values(cell, metric)
    else:
        (old, new), lost = of_graphs.values(), of_graphs.sizes_lost
    if not (old.values and new.values):
        verdict = JudgedVerdict(
            cell=cell, metric=metric.name, unit=metric.unit, kind="exact", conclusion="undecided",
            base=old, head=new,
        )  # fmt: skip
        return _with(verdict, "undecided", _size_ended(lost)) if lost else None
    of_base, of_head = base.source(cell, metric), head.source(cell, metric)
    verdict = _exact(cell, metric, old, new, floors, of_head)
    if of_graphs is None and _of_other_graphs(verdict, base, head):
        verdict = _with(verdict, "workload changed", Statement("other graphs"), verdict.ratio)
    if metric.name == _CRASHED and _always_crashes(cell, base, head):
        verdict = _with(verdict, "worse", None, verdict.ratio)
    if metric.all_of > 1 and not floors.interleaved and verdict.conclusion in ("worse", "better"):
        verdict = _with(verdict, "undecided", Statement("not in turn"))
    if lost and verdict.conclusion != "worse":
        verdict = _with(verdict, "undecided", _size_ended(lost))
    if of_base != of_head:
        apart = Statement("counted apart", (of_base, of_head))
        if not (of_base and of_head):
            apart = Statement("counted more", ("HEAD" if of_base else "BASE",))
        verdict = _with(verdict, "undecided", apart)
    return verdict


def _with(
    verdict: JudgedVerdict, conclusion: Conclusion, because: Statement | None,
    ratio: Ratio | None = None,
) -> JudgedVerdict:  # fmt: skip
    """A verdict with another conclusion, for another reason."""
    change = {"conclusion": conclusion, "because": because, "ratio": ratio}
    return verdict.model_copy(update=change)


def _size_ended(lost: Sequence[Size]) -> Statement:
    """HEAD ended sizes that BASE built: how its work grows from there on is unknown."""
    first = lost[0]
    return Statement("size ended", (first.family, first.number, first.noun, first.limit))


def _exact(
    cell: Cell, metric: Metric, old: Values, new: Values, floors: NoiseFloors, source: str | None
) -> JudgedVerdict:
    rule = rule_of(metric, cell.scenario, floors.noise(cell, metric.name), source)
    found = conclude(rule, old.values, new.values)
    return JudgedVerdict(
        cell=cell, metric=metric.name, unit=metric.unit,
        kind="exact" if rule.kind == "exact" else "near_exact",
        conclusion=found.conclusion, base=old, head=new, ratio=found.ratio,
        minimum_effect=rule.material,
        noise=rule.spread if rule.kind == "near_exact" else None, learned_from=rule.samples,
        because=_why(metric, old, new, found),
    )  # fmt: skip


def _of_other_graphs(verdict: Verdict, base: Evidence, head: Evidence) -> bool:
    """Whether a change is of a sum over all graphs of a cell, and the sides have other graphs."""
    return (
        SCENARIOS[verdict.cell.scenario].apart
        and verdict.metric not in CORRECTNESS
        and verdict.conclusion != "unaffected"
        and not same_graphs(verdict.cell, base, head)
    )


def _always_crashes(cell: Cell, base: Evidence, head: Evidence) -> bool:
    """Whether HEAD fails in every sample of a pass in which BASE has a good one.

    The number of samples that failed says less: one of BASE may have been ended by chance.
    """
    for measure in PASSES:
        old, new = base.taken(cell, measure), head.taken(cell, measure)
        if new and any(one.status == "ok" for one in old) and all(map(failed, new)):
            return True
    return False


def _why(metric: Metric, old: Values, new: Values, found: Concluded) -> Statement | None:
    if found.uneven is not None:
        values = old.values if found.uneven == "BASE" else new.values
        return Statement("not deterministic", (metric.name, values, found.uneven))
    if metric.all_of > 1 and found.conclusion == "undecided":
        return Statement("too few processes", (min(old.n, new.n), metric.all_of))
    if metric.even_if_same and max(old.values) == max(new.values) > 0:
        return Statement("same in both", (metric.name, max(new.values)))
    return None


def _noisy(one: _Contest, q_value: float | None, floors: NoiseFloors) -> JudgedVerdict:
    conclusion: Conclusion = "undecided"
    because = None
    floor = floors.minimum_effect(one.cell, one.metric.name, one.processes)
    if not (one.old.values and one.new.values):
        because = Statement("no time")
    elif not one.testable:
        because = Statement("no ratio")
    elif one.test is None or q_value is None:
        because = Statement("too few processes", (one.processes, FEWEST))
    else:
        ratio = one.test.ratio
        conclusion = noisy.conclude(ratio, q_value, floor)
        if conclusion == "undecided":
            because = Statement("interval too wide", (ratio.low, ratio.high, floor))
            if ratio.low >= 1 + floor or ratio.high <= 1 / (1 + floor):
                because = Statement("may be chance", (ratio.low, ratio.high))
    return JudgedVerdict(
        cell=one.cell, metric=one.metric.name, unit=one.metric.unit, kind="noisy",
        conclusion=conclusion, base=one.old, head=one.new,
        ratio=None if one.test is None else one.test.ratio,
        p_value=None if one.test is None else one.test.p_value,
        q_value=q_value, minimum_effect=floor, because=because,
    )  # fmt: skip


def _missing(cell: Cell, base: Evidence, head: Evidence) -> IncompleteCell | None:
    """Why a cell cannot be compared completely; None if it can."""
    of_base, of_head = (_incomplete(cell, side) for side in (base, head))
    reasons = tuple(dict.fromkeys(why for why in (of_base, of_head) if why))
    side: Side = "both" if of_base and of_head else "base" if of_base else "head"
    return IncompleteCell(cell, side, reasons) if reasons else None


def _incomplete(cell: Cell, side: Evidence) -> Statement | None:
    samples = side.taken(cell)
    if not samples:
        return Statement("not measured")
    if all(sample.status == "unavailable" for sample in samples):
        if failure := samples[-1].failure:
            return Statement("recorded message", (failure.message,))
        return Statement("unavailable")
    failures = side.failures(cell)
    if not failures:
        return None
    return Statement("samples failed", (len(failures), len(samples), message_of(failures[-1])))
