"""What exact metrics did from subject to subject, with causes, over a whole history. Pure.

Neighbours are compared as `observatory compare` compares two subjects: plain inequality, causes
from the two ledgers. A change holds until a later subject counts no more than was counted before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Counted:
    """One subject of a history of one machine and environment, and what was counted of it."""

    at: At
    evidence: Evidence


@dataclass(frozen=True)
class History:
    """The subjects of one machine and environment, oldest first."""

    machine: str
    env_name: str
    subjects: Sequence[Counted]


def counted_changes(history: History) -> Iterator[Occurrence]:
    """Every change of an exact metric that can alarm, for the worse and for the better."""
    floors = Floors.of(None, interleaved=False)
    for place in range(1, len(history.subjects)):
        base, head = history.subjects[place - 1], history.subjects[place]
        cells = sorted(base.evidence.cells & head.evidence.cells)
        verdicts = judge_exact(cells, base.evidence, head.evidence, floors).verdicts
        exact = [verdict for verdict in verdicts if verdict.kind == "exact"]
        causes, exact = explained(exact, base.evidence, head.evidence)
        for cause in causes:
            yield _worse(history, place, cause, [v for v in exact if v.cause == cause.id])
        better = [verdict for verdict in exact if verdict.conclusion == "better"]
        if better:
            yield from _better(history, place, better)


def _worse(history: History, place: int, cause: Cause, verdicts: Sequence[Verdict]) -> Occurrence:
    told = [_told(history, place, verdict) for verdict in verdicts]
    over = [recovered for _, recovered in told]
    backends = sorted({cell.backend for cell in cause.cells})
    base, head = history.subjects[place - 1].at, history.subjects[place].at
    sides = {"BASE": base.label, "HEAD": head.label}
    said = re.sub(r"\b(BASE|HEAD)\b", lambda word: sides[word[0]], cause.sentence)
    change = _change(
        history, place, id_of(cause.kind, head.commit, *backends), cause.kind,
        f"{', '.join(backends)}: {said}", [one for one, _ in told], cause.functions,
    )  # fmt: skip
    done = None if None in over else max((at for at in over if at), key=lambda at: at.date)
    return Occurrence(change, True, done)


def _better(history: History, place: int, verdicts: Sequence[Verdict]) -> Iterator[Occurrence]:
    """One change for each metric: an improvement needs no cause to be told."""
    for metric in dict.fromkeys(verdict.metric for verdict in verdicts):
        of_metric = [verdict for verdict in verdicts if verdict.metric == metric]
        told = [_told(history, place, verdict)[0] for verdict in of_metric]
        head = history.subjects[place].at
        kind = f"fewer {metric}"
        yield Occurrence(
            _change(history, place, id_of(kind, head.commit), kind, _sentence(metric, told), told),
            worse=False,
        )


def _sentence(metric: str, told: Sequence[SeriesChange]) -> str:
    """`cache_misses 105 → 0 (radon warm_disk NUMBA fork and 3 more cells)`."""
    most = max(told, key=lambda one: one.before - one.after)
    others = len({one.benchmark for one in told}) - 1
    more = f" and {others} more cells" if others > 1 else " and 1 more cell" if others else ""
    levels = units.change(most.before, most.after, most.unit)
    return f"{metric} {levels} ({most.benchmark}{more})"


def _change(
    history: History,
    place: int,
    id_: str,
    kind: str,
    sentence: str,
    told: Sequence[SeriesChange],
    functions: Sequence[FunctionChange] = (),
) -> Change:
    times = list(_times(history, place, told))
    return Change(
        id=id_,
        kind=kind,
        sentence=(sentence + _with_it(times))[:4000],
        last_good=history.subjects[place - 1].at,
        first_bad=history.subjects[place].at,
        between=0,
        series=[*told, *times],
        functions=list(functions),
    )


def _times(history: History, place: int, told: Sequence[SeriesChange]) -> Iterator[SeriesChange]:
    """The compile times of the cells in which functions began or ceased to hit: not judged."""
    base, head = history.subjects[place - 1], history.subjects[place]
    for one in told:
        cell = Cell(*one.benchmark.split(" "))
        if one.metric not in OF_A_CACHE or cell.scenario not in WARM_SCENARIOS:
            continue
        values = [side.evidence.values(cell, _COMPILE_TIME).values for side in (base, head)]
        if all(values):
            before, after = map(median, values)
            yield one.model_copy(update={
                "metric": _COMPILE_TIME.name, "unit": _COMPILE_TIME.unit, "kind": "noisy",
                "before": before, "after": after, "now": None, "newest": head.at,
            })  # fmt: skip


def _with_it(times: Sequence[SeriesChange]) -> str:
    if not times:
        return ""
    most = max(times, key=lambda one: abs(one.after - one.before))
    levels = units.change(most.before, most.after, most.unit)
    return f"; with it compile_time {levels} ({most.benchmark})"


def _told(history: History, place: int, verdict: Verdict) -> tuple[SeriesChange, At | None]:
    """What a verdict's series did since, and the first subject at which its change was over."""
    base = history.subjects[place - 1]
    count = _counter(verdict, base.evidence)
    before, after = max(verdict.base.values), max(verdict.head.values)
    later = [
        (subject.at, value)
        for subject in history.subjects[place:]
        if (value := count(subject.evidence)) is not None
    ]
    newest, now = later[-1]
    over = next((at for at, value in later if value <= before), None)
    cell = Cell(**verdict.cell.model_dump())
    told = SeriesChange(
        machine=history.machine, env_name=history.env_name, benchmark=str(cell),
        metric=verdict.metric, unit=verdict.unit, kind="exact", before=before, after=after,
        now=now, last_good=base.at, first_bad=history.subjects[place].at, newest=newest,
        holds=over is None,
    )  # fmt: skip
    return told, over if after > before else None


def _counter(verdict: Verdict, base: Evidence) -> Callable[[Evidence], float | None]:
    """How the count of a verdict is read from any subject; None where it has none."""
    cell = Cell(**verdict.cell.model_dump())
    if verdict.metric == REUSE_LOST:
        return lambda evidence: _reuse(cell, base, evidence)
    metric = METRICS[verdict.metric]
    return lambda evidence: max(evidence.values(cell, metric).values, default=None)


def _reuse(cell: Cell, base: Evidence, head: Evidence) -> float | None:
    # Where other functions are compiled than in the base, 0: there is nothing left to lose.
    lost = reuse_lost(cell, base.ledger(cell), head.ledger(cell))
    return None if lost is None else lost.head.values[0]
