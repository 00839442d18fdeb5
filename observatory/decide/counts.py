"""What exact metrics did from subject to subject, with causes, over a whole history. Pure.

Each subject is compared with the one before it that has the cell, as `observatory compare` compares
two: plain inequality, causes from the two ledgers. A change holds until a later subject counts no
more than was counted before.

A history may be long and ledgers are large: subjects are taken one after another, and only those
are kept that something is still compared with.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median

from benchmarks.vocabulary import METRICS, WARM_SCENARIOS, Cell
from observatory.decide import units
from observatory.decide.causes import explained
from observatory.decide.changes import Occurrence, id_of
from observatory.decide.evidence import Evidence
from observatory.decide.floors import Floors
from observatory.decide.reuse import REUSE_LOST, reuse_lost
from observatory.decide.verdicts import judge_exact
from observatory.record.alerts import At, Change, SeriesChange
from observatory.record.comparison import Cause, FunctionChange, Verdict

OF_A_CACHE = ("cache_misses", "uncacheable", REUSE_LOST)
"""Metrics that the time of a build follows from."""
_COMPILE_TIME = METRICS["compile_time"]
_Count = Callable[[Evidence], float | None]


@dataclass(frozen=True, eq=False)
class Counted:
    """One subject of a history of one machine and environment, and what was counted of it."""

    at: At
    evidence: Evidence
    number: int
    """Its place in the history."""


@dataclass(frozen=True)
class History:
    """The subjects of one machine and environment, oldest first."""

    machine: str
    env_name: str
    subjects: Iterable[Counted]


def counted_changes(history: History) -> list[Occurrence]:
    """Every change of an exact metric that can alarm, for the worse and for the better."""
    last: dict[Cell, Counted] = {}
    found: list[_Followed] = []
    for head in history.subjects:
        for one in found:
            one.meet(head)
        bases = {base.number: base for cell, base in last.items() if cell in head.evidence.cells}
        for base in bases.values():
            cells = [cell for cell in sorted(head.evidence.cells) if last.get(cell) is base]
            found += _Pair(history, base, head).changes(cells)
        last |= dict.fromkeys(head.evidence.cells, head)
    return [one.occurrence() for one in found]


@dataclass
class _Watched:
    """One series of a change, followed from subject to subject."""

    told: SeriesChange
    count: _Count
    over: At | None = None

    def meet(self, subject: Counted) -> None:
        """See what a later subject counts."""
        value = self.count(subject.evidence)
        if value is None:
            return
        if self.over is None and value <= self.told.before:
            self.over = subject.at
        news = {"now": value, "newest": subject.at, "holds": self.over is None}
        self.told = self.told.model_copy(update=news)


@dataclass
class _Followed:
    """A change, and its series since."""

    change: Change
    worse: bool
    series: list[_Watched]
    beside: list[SeriesChange] = field(default_factory=list)

    def meet(self, subject: Counted) -> None:
        """See what a later subject counts."""
        for one in self.series if self.worse else ():
            one.meet(subject)

    def occurrence(self) -> Occurrence:
        """What it has come to: over when all of its series are."""
        told = [*(one.told for one in self.series), *self.beside]
        over = [one.over for one in self.series]
        done = None if None in over else max((o for o in over if o), key=lambda at: at.date)
        change = self.change.model_copy(update={"series": told})
        return Occurrence(change, self.worse, done if self.worse else None)


@dataclass(frozen=True)
class _Pair:
    """Two subjects of a history that are compared."""

    history: History
    base: Counted
    head: Counted

    def changes(self, cells: Sequence[Cell]) -> Iterator[_Followed]:
        """What changed in these cells."""
        old, new = self.base.evidence, self.head.evidence
        verdicts = judge_exact(cells, old, new, Floors.of(None, interleaved=False)).verdicts
        exact = [verdict for verdict in verdicts if verdict.kind == "exact"]
        causes, exact = explained(exact, old, new)
        for cause in causes:
            yield self._worse(cause, [v for v in exact if v.cause == cause.id])
        better = [verdict for verdict in exact if verdict.conclusion == "better"]
        for metric in dict.fromkeys(verdict.metric for verdict in better):
            # An improvement needs no cause to be told: one change for each metric.
            yield self._better(metric, [v for v in better if v.metric == metric])

    def _worse(self, cause: Cause, verdicts: Sequence[Verdict]) -> _Followed:
        backends = sorted({cell.backend for cell in cause.cells})
        sides = {"BASE": self.base.at.label, "HEAD": self.head.at.label}
        said = re.sub(r"\b(BASE|HEAD)\b", lambda word: sides[word[0]], cause.sentence)
        id_ = id_of(cause.kind, self.head.at.commit, *backends)
        sentence = f"{', '.join(backends)}: {said}"
        return self._followed(id_, cause.kind, sentence, verdicts, cause.functions)

    def _better(self, metric: str, verdicts: Sequence[Verdict]) -> _Followed:
        kind = f"fewer {metric}"
        id_ = id_of(kind, self.head.at.commit)
        sentence = _sentence(metric, [self._told(verdict) for verdict in verdicts])
        return self._followed(id_, kind, sentence, verdicts, worse=False)

    def _followed(
        self,
        id_: str,
        kind: str,
        sentence: str,
        verdicts: Sequence[Verdict],
        functions: Sequence[FunctionChange] = (),
        worse: bool = True,
    ) -> _Followed:
        series = [_Watched(self._told(v), _counter(v, self.base.evidence)) for v in verdicts]
        times = list(self._times([one.told for one in series]))
        change = Change(
            id=id_,
            kind=kind,
            sentence=(sentence + _with_it(times))[:4000],
            last_good=self.base.at,
            first_bad=self.head.at,
            between=self.head.number - self.base.number - 1,
            functions=list(functions),
        )
        return _Followed(change, worse, series, times)

    def _told(self, verdict: Verdict) -> SeriesChange:
        after = max(verdict.head.values)
        return SeriesChange(
            machine=self.history.machine, env_name=self.history.env_name,
            benchmark=str(_cell(verdict)), metric=verdict.metric, unit=verdict.unit, kind="exact",
            before=max(verdict.base.values), after=after, now=after, last_good=self.base.at,
            first_bad=self.head.at, newest=self.head.at, holds=True,
        )  # fmt: skip

    def _times(self, told: Sequence[SeriesChange]) -> Iterator[SeriesChange]:
        """Compile times of the cells in which functions began or ceased to hit: not judged."""
        for one in told:
            cell = Cell(*one.benchmark.split(" "))
            if one.metric not in OF_A_CACHE or cell.scenario not in WARM_SCENARIOS:
                continue
            sides = self.base.evidence, self.head.evidence
            values = [side.values(cell, _COMPILE_TIME).values for side in sides]
            if all(values):
                before, after = map(median, values)
                yield one.model_copy(update={
                    "metric": _COMPILE_TIME.name, "unit": _COMPILE_TIME.unit, "kind": "noisy",
                    "before": before, "after": after, "now": None,
                })  # fmt: skip


def _cell(verdict: Verdict) -> Cell:
    return Cell(**verdict.cell.model_dump())


def _sentence(metric: str, told: Sequence[SeriesChange]) -> str:
    """`cache_misses 105 → 0 (radon warm_disk NUMBA fork and 3 more cells)`."""
    most = max(told, key=lambda one: one.before - one.after)
    others = len({one.benchmark for one in told}) - 1
    more = f" and {others} more cells" if others > 1 else " and 1 more cell" if others else ""
    levels = units.change(most.before, most.after, most.unit)
    return f"{metric} {levels} ({most.benchmark}{more})"


def _with_it(times: Sequence[SeriesChange]) -> str:
    if not times:
        return ""
    most = max(times, key=lambda one: abs(one.after - one.before))
    levels = units.change(most.before, most.after, most.unit)
    return f"; with it compile_time {levels} ({most.benchmark})"


def _counter(verdict: Verdict, base: Evidence) -> _Count:
    """How the count of a verdict is read from any subject; None where it has none."""
    cell = _cell(verdict)
    if verdict.metric == REUSE_LOST:
        ledger = base.ledger(cell)

        def lost(evidence: Evidence) -> float | None:
            # Where other functions are compiled than in the base, 0: there is nothing to lose.
            found = reuse_lost(cell, ledger, evidence.ledger(cell))
            return None if found is None else found.head.values[0]

        return lost
    metric = METRICS[verdict.metric]
    return lambda evidence: max(evidence.values(cell, metric).values, default=None)
