"""Changes of exact metrics from subject to subject, with causes, over a whole history. Pure.

Each subject is compared with the last one before it that has the value, as `observatory compare`
does with two: plain inequality, causes from the two ledgers. A change holds until the count of a
later subject is not worse than before the change. Values that were wrong when they were first
checked are a change as well, as long as they are.

A history may be long and ledgers are large: subjects are read one after another, and only those
that are still needed for a comparison are kept.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from observatory.analyze.comparison.causes import explained
from observatory.analyze.comparison.evidence import Evidence
from observatory.analyze.comparison.graphs import by_graph, count_in
from observatory.analyze.comparison.ledgers import REUSE_LOST, lost_by_name
from observatory.analyze.comparison.noise_floors import SEPARATE_RUNS, NoiseFloors
from observatory.analyze.comparison.verdicts import judge_exact
from observatory.analyze.history.first_wrong import wrong_from_the_first
from observatory.analyze.history.followed import (
    Count,
    Counted,
    CountedSubject,
    FollowedChange,
    FollowedSeries,
    History,
)
from observatory.analyze.statements import (
    FoundCause,
    JudgedVerdict,
    Occurrence,
    Sides,
    Statement,
    id_of,
)
from observatory.benchmarks.catalogue import (
    CAUSES,
    CORRECTNESS,
    METRICS,
    OF_A_CACHE,
    WARM_SCENARIOS,
    WRONG_VALUES,
    Cell,
    Metric,
    metrics_of,
)
from observatory.store.records.alerts import Change, SeriesChange, series_id
from observatory.store.records.comparison import Verdict

_COMPILE_TIME = METRICS["compile_time"]
_FLICKER = 0.1
"""Within a change that holds, a count may move by so much of it and is no change of its own."""
_Place = tuple[Cell, str]
"""A cell and the name of a metric, or `reuse_lost`."""


def counted_changes(history: History) -> tuple[list[Occurrence], int]:
    """Every change of an exact metric that can alert, for the worse and for the better.

    A subject is compared, metric by metric, with the last one that has a value: a night without
    counts, with failures or with counts that are not deterministic hides no change. Where these
    surely changed all the same, later subjects are compared with them. Values that
    were wrong from the first have no last good subject, and are left out once they are right.
    Returns the changes in the order of their subjects, and the number of pairs compared.
    """
    last: dict[_Place, CountedSubject] = {}
    checked: set[tuple[Cell, str]] = set()
    found: list[FollowedChange] = []
    compared = 0
    for head in history.subjects:
        for series in (series for one in found if one.found.worse for series in one.series):
            series.update(head)
        given = dict(_given(head.evidence))
        known = {place for place, even in given.items() if even}
        bases = {last[place].number: last[place] for place in given if place in last}
        for _, base in sorted(bases.items()):
            compared += 1
            pair = _Pair(history, base, head)
            verdicts = pair.verdicts({place for place in given if last.get(place) is base})
            known |= {(one.cell, one.metric) for one in verdicts if one.conclusion != "undecided"}
            found += pair.changes([one for one in verdicts if not _flickers(one, found)])
        found += wrong_from_the_first(history, head, checked)
        last |= dict.fromkeys(known, head)
    occurrences = (one.occurrence() for one in found)
    return [o for o in occurrences if o.change.last_good or not o.recovered], compared


def _flickers(verdict: Verdict, found: Iterable[FollowedChange]) -> bool:
    """Whether a count moves by little within what an alert that holds has already said of it.

    35 misses in one night, 34 in the next and 35 again are one change, and no three.
    """
    if verdict.metric in (*WRONG_VALUES, *CORRECTNESS, REUSE_LOST):
        return False
    base, head = max(verdict.base.values, default=0.0), max(verdict.head.values, default=0.0)
    return any(
        series.over is None
        and (series.cell, series.change.metric) == (verdict.cell, verdict.metric)
        and head <= series.peak
        and abs(head - base) <= _FLICKER * (series.peak - series.change.before)
        for change in found if change.found.worse
        for series in change.series
    )  # fmt: skip


def _given(evidence: Evidence) -> Iterator[tuple[_Place, bool]]:
    """The places where a subject has a value, each with whether its samples agree."""
    for cell in evidence.cells:
        if cell.problem() is not None:
            continue
        for metric in metrics_of(cell.scenario, cell.launch, derived=True):
            values = evidence.values(cell, metric).values
            if metric.kind != "exact" or not values:
                continue
            most = min(values) * (1 + (metric.material or 0.0))
            yield (cell, metric.name), metric.name in CORRECTNESS or max(values) <= most
        if evidence.ledger(cell) is not None:
            yield (cell, REUSE_LOST), True


@dataclass(frozen=True)
class _Pair:
    """Two subjects of a history that are compared."""

    history: History
    base: CountedSubject
    head: CountedSubject

    def verdicts(self, places: Collection[_Place]) -> list[JudgedVerdict]:
        """The verdicts on the metrics in ``places``."""
        cells = sorted({cell for cell, _ in places})
        old, new = self.base.evidence, self.head.evidence
        found = judge_exact(cells, old, new, NoiseFloors.of(None, interleaved=False)).verdicts
        return [v for v in found if v.kind == "exact" and (v.cell, v.metric) in places]

    def changes(self, verdicts: Sequence[JudgedVerdict]) -> Iterator[FollowedChange]:
        """The changes that verdicts find, each with its cause if it is known."""
        causes, exact = explained(list(verdicts), self.base.evidence, self.head.evidence)
        worse = [verdict for verdict in exact if verdict.conclusion == "worse"]
        for cause in causes:
            if shown := _shown(cause, worse):
                yield self._followed(cause.kind, shown, cause)
        for metric, own in _by_metric(one for one in worse if one.cause is None):
            yield self._followed(f"more {metric}", own)
        # Improvements are not explained: one change for each metric.
        for metric, own in _by_metric(one for one in exact if one.conclusion == "better"):
            yield self._followed(f"fewer {metric}", own)

    def _followed(
        self, kind: str, verdicts: Sequence[Verdict], cause: FoundCause | None = None
    ) -> FollowedChange:
        """A change and its cause, if it is known; one for the better has none."""
        old, new = self.base.evidence, self.head.evidence
        series = [
            FollowedSeries(v.cell, self._series_change(v), _counter(v, old, new))
            for v in sorted(verdicts, key=_moved, reverse=True)  # the one that moved the most first
        ]
        counts, times = [one.change for one in series], list(self._times(series))
        distinct: list[str] = []
        worse = verdicts[0].conclusion == "worse"
        told = [one for one in times if _moved_with(one, worse)]
        statement = Statement("count changed", (counts, told))
        if cause is not None:
            known, sides = CAUSES[kind], Sides(self.base.at.label, self.head.at.label)
            backends, error = sorted({cell.backend for cell in cause.cells}), ""
            if known.apart_by_text:  # ids are permanent: they were first made from this sentence
                error = known.sentence.format(head=sides.head, family=cause.family)
            distinct = [*backends, error]
            values = backends, cause, sides, [] if known.names_functions else counts, told
            statement = Statement("cause began", values)
        change = Change(
            id=id_of(kind, self.head.at.commit, *distinct), kind=kind, sentence="",
            last_good=self.base.at, first_bad=self.head.at,
            between=self.head.number - self.base.number - 1,
            functions=cause.functions if cause else [],
            graphs=cause.graphs if cause else [],
        )  # fmt: skip
        return FollowedChange(Occurrence(change, worse, statement), series, times)

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

    def _times(self, series: Iterable[FollowedSeries]) -> Iterator[SeriesChange]:
        """Compile times of the cells in which functions began or ceased to hit; not judged."""
        changes = {one.cell: one.change for one in series if one.change.metric in OF_A_CACHE}
        for cell, one in changes.items():
            sides = self.base.evidence, self.head.evidence
            values = [side.values(cell, _COMPILE_TIME).values for side in sides]
            if cell.scenario in WARM_SCENARIOS and all(values):
                before, after = map(median, values)
                yield one.model_copy(update={
                    "metric": _COMPILE_TIME.name, "unit": _COMPILE_TIME.unit, "kind": "noisy",
                    "before": before, "after": after, "now": None,
                })  # fmt: skip


def _moved_with(time: SeriesChange, worse: bool) -> bool:
    """Whether a time moved in the direction of its count, by more than runs differ by chance."""
    less, more = (time.before, time.after) if worse else (time.after, time.before)
    return more >= (1 + SEPARATE_RUNS) * less


def _shown(cause: FoundCause, worse: Iterable[Verdict]) -> list[Verdict]:
    """The verdicts that a cause is followed by: of the metrics that it shows in.

    Two causes may share a cell. Where it shows in no other way, it is what the cause explains.
    """
    inside = [one for one in worse if one.cell in cause.cells]
    shown = [one for one in inside if one.metric in CAUSES[cause.kind].shows_in]
    return shown or [one for one in inside if one.cause == cause.id]


def _by_metric(verdicts: Iterable[Verdict]) -> Iterator[tuple[str, list[Verdict]]]:
    """Verdicts by metric, in the order of the first of each."""
    found: dict[str, list[Verdict]] = {}
    for one in verdicts:
        found.setdefault(one.metric, []).append(one)
    yield from found.items()


def _counter(verdict: Verdict, base: Evidence, head: Evidence) -> Count:
    """A function that reads the count of a verdict from any subject; None where it has none."""
    cell = verdict.cell
    if verdict.metric != REUSE_LOST:
        metric = METRICS[verdict.metric]
        graphs = by_graph(cell, metric, base, head)
        if graphs is not None:
            return _graph_counter(cell, metric, base, graphs.compared)
        most = max(verdict.base.values) * (1 + (metric.material or 0.0))

        def count(evidence: Evidence) -> Counted | None:
            value = max(evidence.values(cell, metric).values, default=None)
            return None if value is None else Counted(value, value > most)

        return count
    before = base.ledger(cell) or []
    names = set(lost_by_name(cell, before, head.ledger(cell) or []))

    def lost(evidence: Evidence) -> Counted | None:
        # Only the functions that were lost: others may be compiled since.
        ledger = evidence.ledger(cell)
        if ledger is None:
            return None
        found = lost_by_name(cell, before, ledger)
        number = float(sum(number for name, number in found.items() if name in names))
        return Counted(number, number > 0)

    return lost


def _graph_counter(cell: Cell, metric: Metric, base: Evidence, followed: Collection[str]) -> Count:
    """A function that counts the graphs that changed, each compared with what it was in BASE.

    Later releases have other graphs. One that is gone, and one that got better, does not hide that
    another one is still worse.
    """
    most = {
        name: (count_in(cell, metric, base, {name}) or 0.0) * (1 + (metric.material or 0.0))
        for name in followed
    }

    def count(evidence: Evidence) -> Counted | None:
        value = count_in(cell, metric, evidence, followed)
        if value is None:
            return None
        each = {name: count_in(cell, metric, evidence, {name}) or 0.0 for name in most}
        return Counted(value, any(each[name] > most[name] for name in most))

    return count


def _moved(verdict: Verdict) -> float:
    """By how much a count changed."""
    return abs(max(verdict.head.values) - max(verdict.base.values))
