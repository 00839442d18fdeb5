"""Changes of exact metrics from subject to subject, with causes, over a whole history. Pure.

Each subject is compared with the one before it that has the value, as `observatory compare` does
with two: plain inequality, causes from the two ledgers. A change holds until a later subject
counts no more than was counted before.

A history may be long and ledgers are large: subjects are taken one after another, and only those
are kept that something is still compared with.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median

from benchmarks.catalogue import (
    CAUSES,
    CORRECTNESS,
    METRICS,
    OF_A_CACHE,
    WARM_SCENARIOS,
    Cell,
    metrics_of,
)
from observatory.analyze.comparison.causes import explained
from observatory.analyze.comparison.evidence import Evidence
from observatory.analyze.comparison.noise_floors import NoiseFloors
from observatory.analyze.comparison.reuse import REUSE_LOST, lost_by_name
from observatory.analyze.comparison.verdicts import judge_exact
from observatory.analyze.history.grouping import Occurrence, id_of, over_with
from observatory.analyze.statements import FoundCause, Sides, Statement
from observatory.store.records.alerts import At, Change, SeriesChange, series_id
from observatory.store.records.comparison import FunctionChange, Verdict

_COMPILE_TIME = METRICS["compile_time"]
_Count = Callable[[Evidence], float | None]
_Place = tuple[Cell, str]
"""A cell and the name of a metric, or `reuse_lost`."""


@dataclass(frozen=True, eq=False)
class CountedSubject:
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
    subjects: Iterable[CountedSubject]


@dataclass
class ExactChanges:
    """The changes of exact metrics along one history."""

    occurrences: list[Occurrence]
    compared: int
    """Pairs of subjects."""


def counted_changes(history: History) -> ExactChanges:
    """Every change of an exact metric that can alert, for the worse and for the better.

    A subject is compared, metric by metric, with the last one that has a value of it: a night
    without counts, with failures or with counts that are not deterministic hides no change.
    Returns the changes in the order of their subjects, and the number of pairs compared.
    """
    last: dict[_Place, CountedSubject] = {}
    found: list[_FollowedChange] = []
    compared = 0
    for head in history.subjects:
        for one in found:
            one.update(head)
        given = set(_given(head.evidence))
        bases = {last[place].number: last[place] for place in given if place in last}
        for _, base in sorted(bases.items()):
            compared += 1
            places = {place for place in given if last.get(place) is base}
            found += _Pair(history, base, head).changes(places)
        last |= dict.fromkeys(given, head)
    return ExactChanges([one.occurrence() for one in found], compared)


def _given(evidence: Evidence) -> Iterator[_Place]:
    """The places of which a subject gave a value that later ones can be compared with."""
    for cell in evidence.cells:
        if cell.problem() is not None:
            continue
        for metric in metrics_of(cell.scenario, cell.launch):
            values = evidence.values(cell, metric).values
            agreed = metric.name in CORRECTNESS or len(set(values)) == 1
            if metric.kind == "exact" and values and agreed:
                yield cell, metric.name
        if evidence.ledger(cell) is not None:
            yield cell, REUSE_LOST


@dataclass
class _FollowedSeries:
    """One series of a change, followed from subject to subject."""

    cell: Cell
    told: SeriesChange
    count: _Count
    over: At | None = None

    def update(self, subject: CountedSubject) -> None:
        """Take in the count of a later subject."""
        value = None if self.over else self.count(subject.evidence)
        if value is None:
            return
        if value <= self.told.before:
            self.over = subject.at
        news = {"now": value, "newest": subject.at, "holds": self.over is None}
        self.told = self.told.model_copy(update=news)


@dataclass
class _FollowedChange:
    """A change, and its series since."""

    change: Change
    worse: bool
    statement: Statement
    series: list[_FollowedSeries]
    beside: list[SeriesChange] = field(default_factory=list)

    def update(self, subject: CountedSubject) -> None:
        """Take in the count of a later subject."""
        for one in self.series if self.worse else ():
            one.update(subject)

    def occurrence(self) -> Occurrence:
        """The change with the newest count of each series."""
        told = [*(one.told for one in self.series), *self.beside]
        change = self.change.model_copy(update={"series": told})
        recovered = over_with([one.over for one in self.series]) if self.worse else None
        return Occurrence(change, self.worse, self.statement, recovered)


@dataclass(frozen=True)
class _Pair:
    """Two subjects of a history that are compared."""

    history: History
    base: CountedSubject
    head: CountedSubject

    def changes(self, places: Collection[_Place]) -> Iterator[_FollowedChange]:
        """What changed in these places."""
        old, new = self.base.evidence, self.head.evidence
        cells = sorted({cell for cell, _ in places})
        verdicts = judge_exact(cells, old, new, NoiseFloors.of(None, interleaved=False)).verdicts
        exact = [v for v in verdicts if v.kind == "exact" and (v.cell, v.metric) in places]
        causes, exact = explained(exact, old, new)
        worse = [verdict for verdict in exact if verdict.conclusion == "worse"]
        for cause in causes:
            # Two causes may share a cell: each is followed by what it is seen in.
            inside = [v for v in worse if v.cell in cause.cells]
            yield self._worse(cause, [v for v in inside if v.metric in CAUSES[cause.kind].shows_in])
        better = [verdict for verdict in exact if verdict.conclusion == "better"]
        for metric in dict.fromkeys(verdict.metric for verdict in better):
            # An improvement needs no cause to be told: one change for each metric.
            yield self._better(metric, [v for v in better if v.metric == metric])

    def _worse(self, cause: FoundCause, verdicts: Sequence[Verdict]) -> _FollowedChange:
        backends = sorted({cell.backend for cell in cause.cells})
        known, sides = CAUSES[cause.kind], Sides(self.base.at.label, self.head.at.label)
        error = ""
        if known.apart_by_text:  # ids are permanent: they were first made from this sentence
            error = known.sentence.format(head=sides.head, family=cause.family)
        id_ = id_of(cause.kind, self.head.at.commit, *backends, error)
        series, times = self._series(verdicts)
        told = [] if known.names_functions else [one.told for one in series]
        change = self._change(id_, cause.kind, cause.functions)
        statement = Statement("cause began", (backends, cause, sides, told, times))
        return _FollowedChange(change, True, statement, series, times)

    def _better(self, metric: str, verdicts: Sequence[Verdict]) -> _FollowedChange:
        kind = f"fewer {metric}"
        id_ = id_of(kind, self.head.at.commit)
        series, times = self._series(verdicts)
        statement = Statement("count fell", ([one.told for one in series], times))
        return _FollowedChange(self._change(id_, kind), False, statement, series, times)

    def _series(
        self, verdicts: Iterable[Verdict]
    ) -> tuple[list[_FollowedSeries], list[SeriesChange]]:
        """The series of these verdicts, and the compile times that came with them."""
        old, new = self.base.evidence, self.head.evidence
        series = [
            _FollowedSeries(v.cell, self._series_change(v), _counter(v, old, new)) for v in verdicts
        ]
        return series, list(self._times(series))

    def _change(self, id_: str, kind: str, functions: Sequence[FunctionChange] = ()) -> Change:
        return Change(
            id=id_, kind=kind, sentence="",
            last_good=self.base.at, first_bad=self.head.at,
            between=self.head.number - self.base.number - 1, functions=list(functions),
        )  # fmt: skip

    def _series_change(self, verdict: Verdict) -> SeriesChange:
        after = max(verdict.head.values)
        machine, env_name, benchmark, metric = series_id(
            self.history.machine, self.history.env_name, str(verdict.cell), verdict.metric
        )
        return SeriesChange(
            machine=machine, env_name=env_name, benchmark=benchmark, metric=metric,
            unit=verdict.unit, kind="exact",
            before=max(verdict.base.values), after=after, now=after, last_good=self.base.at,
            first_bad=self.head.at, newest=self.head.at, holds=True,
        )  # fmt: skip

    def _times(self, series: Iterable[_FollowedSeries]) -> Iterator[SeriesChange]:
        """Compile times of the cells in which functions began or ceased to hit: not judged."""
        told = {one.cell: one.told for one in series if one.told.metric in OF_A_CACHE}
        for cell, one in told.items():
            sides = self.base.evidence, self.head.evidence
            values = [side.values(cell, _COMPILE_TIME).values for side in sides]
            if cell.scenario in WARM_SCENARIOS and all(values):
                before, after = map(median, values)
                yield one.model_copy(update={
                    "metric": _COMPILE_TIME.name, "unit": _COMPILE_TIME.unit, "kind": "noisy",
                    "before": before, "after": after, "now": None,
                })  # fmt: skip


def _counter(verdict: Verdict, base: Evidence, head: Evidence) -> _Count:
    """How the count of a verdict is read from any subject; None where it has none."""
    cell = verdict.cell
    if verdict.metric != REUSE_LOST:
        metric = METRICS[verdict.metric]
        return lambda evidence: max(evidence.values(cell, metric).values, default=None)
    before = base.ledger(cell) or []
    names = set(lost_by_name(cell, before, head.ledger(cell) or []))

    def lost(evidence: Evidence) -> float | None:
        # Of the functions that were lost, whatever else is compiled since.
        ledger = evidence.ledger(cell)
        if ledger is None:
            return None
        found = lost_by_name(cell, before, ledger)
        return float(sum(number for name, number in found.items() if name in names))

    return lost
