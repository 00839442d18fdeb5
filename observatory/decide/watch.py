"""Everything that happened along the histories of one results directory. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from observatory.decide.alerts import Known, Moment, Run, alive
from observatory.decide.changes import TOGETHER, Occurrence, gathered
from observatory.decide.counts import OF_A_CACHE, History, counted_changes
from observatory.decide.series import Line, Series
from observatory.decide.timeline import Moved, judge_series
from observatory.record.alerts import Alerts, Change

_FOLLOWS = ("compile_time", "peak_rss")
"""Noisy metrics that follow from what a cache does in the same cell."""
_MOST_ENVIRONMENTS = 1000


@dataclass(frozen=True)
class Watched:
    """What is looked at: every series, the exact histories, and the newest run of each machine."""

    series: Sequence[Series]
    histories: Iterable[History]
    """Gone through once, one subject at a time."""
    runs: Sequence[Run]


def watch(watched: Watched, moment: Moment, observatory: str) -> Alerts:
    """Find every change, and say what became of those for the worse."""
    judged = judge_series(watched.series)
    exact = [one for history in watched.histories for one in counted_changes(history)]
    ranks = _ranks(watched.series, exact)
    exact, left = _followed(_across_machines(exact), judged.moved, ranks)
    found = [*exact, *gathered(left, ranks)]
    known = Known(tuple(watched.runs), frozenset(_keys(watched)), ranks)
    good = [run.measured_at for run in watched.runs if not run.failures]
    better = [one.change for one in found if not one.worse]
    return Alerts(
        observatory=observatory,
        newest=known.newest,
        last_good=max(good, default=None),
        judged=judged.judged,
        alerts=alive(found, known, moment),
        improvements=sorted(better, key=lambda c: c.first_bad.date, reverse=True),
        unjudged=judged.unjudged,
        environments=list(_environments(watched.series))[:_MOST_ENVIRONMENTS],
    )


def _ranks(series: Iterable[Series], exact: Iterable[Occurrence]) -> dict[str, int]:
    """For each commit its place by date among all that have a value or a change."""
    dated = {s.commit: s.date for line in _lines(series) for s in line.subjects}
    for one in exact:
        for at in (one.change.last_good, one.change.first_bad):
            if at is not None:
                dated[at.commit] = at.date
    return {commit: rank for rank, commit in enumerate(sorted(dated, key=lambda c: (dated[c], c)))}


def _keys(watched: Watched) -> Iterator[tuple[str, str, str, str]]:
    for one in watched.series:
        yield one.line.machine, one.line.env_name, one.benchmark, one.place.metric


def _across_machines(exact: Iterable[Occurrence]) -> list[Occurrence]:
    """One change where several machines or environments show the same: it is over when all are.

    Changes of one machine and environment stay apart: they have different causes.
    """
    united: list[Occurrence] = []
    for one in exact:
        for number, known in enumerate(united):
            if known.change.id == one.change.id and _places(known).isdisjoint(_places(one)):
                both = [*known.change.series, *one.change.series]
                over = [known.recovered, one.recovered]
                done = None if None in over else max(filter(None, over), key=lambda at: at.date)
                change = known.change.model_copy(update={"series": both})
                united[number] = replace(known, change=change, recovered=done)
                break
        else:
            united.append(one)
    return united


def _places(one: Occurrence) -> set[tuple[str, str]]:
    return {(series.machine, series.env_name) for series in one.change.series}


def _followed(
    exact: Sequence[Occurrence], moved: Sequence[Moved], ranks: dict[str, int]
) -> tuple[list[Occurrence], list[Moved]]:
    """Exact changes with the times that followed from them, and the moves that are left."""
    told, left = list(exact), []
    for move in moved:
        for number, one in enumerate(told):
            if _follows(move, one.change, one.worse, ranks):
                series = [*one.change.series, move.told]
                told[number] = replace(one, change=one.change.model_copy(update={"series": series}))
                break
        else:
            left.append(move)
    return told, left


def _follows(move: Moved, change: Change, worse: bool, ranks: dict[str, int]) -> bool:
    if move.drifting or move.worse != worse or move.told.metric not in _FOLLOWS:
        return False
    apart = ranks[move.told.first_bad.commit] - ranks[change.first_bad.commit]
    return abs(apart) <= TOGETHER and any(
        one.metric in OF_A_CACHE
        and (one.benchmark, one.machine) == (move.told.benchmark, move.told.machine)
        for one in change.series
    )


def _environments(series: Iterable[Series]) -> Iterator[str]:
    """Where a machine or its Python changed: nothing is concluded across that."""
    last: dict[tuple[str, str], Line] = {}
    for line in sorted(_lines(series), key=lambda o: o.subjects[0].date):
        before = last.get((line.machine, line.env_name))
        if before is not None:
            yield (
                f"{line.name}: {before.era} until {before.subjects[-1].label}, {line.era} from "
                f"{line.subjects[0].label} on; series begin anew there"
            )[:4000]
        last[line.machine, line.env_name] = line


def _lines(series: Iterable[Series]) -> list[Line]:
    return list({id(one.line): one.line for one in series}.values())
