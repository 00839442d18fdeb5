"""Compare the evidence of two sides: verdicts, causes, differences and warnings. Pure.

`Pair` has the verdicts on two saved subjects, as the compare page shows them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from statistics import median
from types import MappingProxyType
from typing import Literal, NamedTuple

from observatory.analyze.comparison.beginnings import with_beginnings
from observatory.analyze.comparison.causes import explained
from observatory.analyze.comparison.evidence import Evidence
from observatory.analyze.comparison.ledgers import same_workload, workload
from observatory.analyze.comparison.noise_floors import SEPARATE_RUNS, NoiseFloors
from observatory.analyze.comparison.noisy import DEFAULT_MINIMUM_EFFECT
from observatory.analyze.comparison.rules import rule_of
from observatory.analyze.comparison.unwatched import lost, without_baseline, without_successor
from observatory.analyze.comparison.verdicts import IncompleteCell, judge_exact, judge_noisy
from observatory.analyze.moved_alike import TIMES, MovedAlike, moved_alike
from observatory.analyze.statements import FoundCause, JudgedVerdict, Statement
from observatory.benchmarks.catalogue import (
    CORRECTNESS,
    FIRST_BUILDS,
    METRICS,
    OF_WORK,
    SCENARIOS,
    TOLD_BY_NUMBA,
    WRONG_VALUES,
    Cell,
)
from observatory.store.journal.models import JournalHeader
from observatory.store.reading.saved import Saved
from observatory.store.records.calibration import Calibration
from observatory.store.records.comparison import (
    Comparison,
    Conclusion,
    Difference,
    Side,
    Values,
    Verdict,
    Workload,
)

Outcome = Literal["wrong results", "worse", "undecided", "calm"]
Who = tuple[str, str, str]
"""A subject by its machine, its environment and its commit."""


class OtherSpeed(NamedTuple):
    """The subject with which a machine is likely to have changed, and what moved then."""

    since: str
    alike: MovedAlike


@dataclass(frozen=True)
class Setting:
    """What is compared and how, beside the samples."""

    base: Side
    head: Side
    started_at: datetime
    interleaved: bool
    seed: int
    observatory: str
    reproduce: str
    calibration: Calibration | None = None
    other_speed: OtherSpeed | None = None
    """A change of the machine between the two, if the history shows one."""
    apart: Mapping[str, str] = field(default_factory=dict)
    """The packages of which both sides cannot have the same version, and the requirement."""


@dataclass(frozen=True)
class Compared:
    """Two subjects, compared. `observatory.text.records` makes the record, with its sentences."""

    setting: Setting
    verdicts: Sequence[JudgedVerdict]
    causes: Sequence[FoundCause]
    workload: Sequence[Workload]
    missing: Sequence[IncompleteCell]
    differences: Sequence[Difference]
    warnings: Sequence[Statement]


def compared(
    setting: Setting,
    base: Evidence,
    head: Evidence,
    cells: Collection[Cell] | None = None,
    timed: Collection[Cell] = (),
    conclusions_only: bool = False,
) -> Compared:
    """Compare everything that was measured so far.

    ``cells``: those that were asked for; by default those that either side has. A build that filled
    the cache of one of them is judged as well if it failed or was wrong. ``timed``: cells of which
    a time was wanted. ``conclusions_only``: as for `judge_noisy`.
    """
    fillers = () if cells is None else _fillers(cells, base, head)
    asked = sorted({*(base.cells | head.cells if cells is None else cells), *fillers})
    floors = floors_for(setting)
    exact = judge_exact(asked, base, head, floors)
    other = setting.base.machine.cpu != setting.head.machine.cpu
    if other:  # a warning says so: as undecided, it would hide that all else is calm
        exact.verdicts = [verdict for verdict in exact.verdicts if not _is_of_cpu(verdict)]
    noisy = judge_noisy(
        asked, base, head, floors, setting.seed, Statement("other CPU") if other else None, timed,
        conclusions_only,
    )  # fmt: skip
    alike = None if setting.interleaved or other else _moved_alike(asked, base, head)
    told = [Statement("times moved alike", (alike,))] if alike else []
    if not told and setting.other_speed is not None and not (setting.interleaved or other):
        told = [Statement("times moved alike in between", tuple(setting.other_speed))]
    if told:
        noisy = [_undecided(one) for one in noisy]
    causes, verdicts = explained([*exact.verdicts, *noisy], base, head)
    if not conclusions_only:
        verdicts = with_beginnings(verdicts, base, head)
    missing = list(exact.missing)
    missing += lost(asked, {one.cell for one in missing}, base, head, _excused(setting))
    workload_changes = _workload(base, head, {(cell.model, cell.backend) for cell in asked})
    return Compared(
        setting, verdicts, causes, list(workload_changes), missing,
        _differences(setting),
        [
            *_unwatched(asked, missing, base, head),
            *told,
            *_warnings(setting, noisy),
        ],
    )  # fmt: skip


def _excused(setting: Setting) -> Collection[str]:
    """The metrics that HEAD need not have: another Python or numba does not count the same ones."""
    if setting.base.subject.python != setting.head.subject.python:
        return METRICS
    other = setting.base.versions.numba != setting.head.versions.numba
    return TOLD_BY_NUMBA if other else ()


def _unwatched(
    cells: Collection[Cell], missing: Collection[IncompleteCell], base: Evidence, head: Evidence
) -> Iterator[Statement]:
    """The warnings on metrics that only one side has."""
    of_base, of_head = (
        {one.cell for one in missing if one.side != other} for other in ("head", "base")
    )
    yield from without_baseline(cells, of_base, base, head)
    yield from without_successor(cells, of_head, base, head)


def _fillers(cells: Collection[Cell], *sides: Evidence) -> Iterator[Cell]:
    """The builds that filled the caches of cells, where one failed or returned wrong values."""
    for filler in {cell.filler for cell in cells if SCENARIOS[cell.scenario].filled_by}:
        if any(max(side.values(filler, METRICS[name]).values, default=0.0)
               for side in sides for name in CORRECTNESS):  # fmt: skip
            yield filler


def _moved_alike(cells: Iterable[Cell], base: Evidence, head: Evidence) -> MovedAlike | None:
    """What moved, if the machine is likely to have changed between the two sides."""
    times, work = [], []
    for cell in cells:
        medians = {
            name: (median(old), median(new)) for name in (*TIMES, *OF_WORK)
            if (old := base.values(cell, METRICS[name]).values)
            and (new := head.values(cell, METRICS[name]).values)
            and base.source(cell, METRICS[name]) == head.source(cell, METRICS[name])
        }  # fmt: skip
        own = [(name, *medians[name]) for name in TIMES if name in medians]
        times += own
        work += [medians[name] for name in OF_WORK if name in medians and own]
    return moved_alike(times, work)


def _is_of_cpu(verdict: JudgedVerdict) -> bool:
    """Whether a judged value depends on the CPU, as memory does. Work is counted for one CPU."""
    metric = METRICS.get(verdict.metric)
    return metric is not None and rule_of(metric, verdict.cell.scenario).of_cpu


def _undecided(verdict: JudgedVerdict) -> JudgedVerdict:
    """A verdict where the machine is likely to have changed: of times, none is possible."""
    if verdict.metric not in TIMES:
        return verdict
    change = {"conclusion": "undecided", "because": Statement("other speed")}
    return verdict.model_copy(update=change)


def outcome_of(comparison: Comparison) -> Outcome:
    """One word for a comparison: wrong results come first, then worse, then undecided."""
    worse = {verdict.metric for verdict in comparison.worse}
    if not worse.isdisjoint(WRONG_VALUES):
        return "wrong results"
    if worse:
        return "worse"
    return "undecided" if comparison.undecided or comparison.missing else "calm"


def _workload(base: Evidence, head: Evidence, asked: set[tuple[str, str]]) -> Iterator[Workload]:
    """The changes of the workload by model and backend: the cold builds show them."""
    seen: set[tuple[str, str]] = set()
    for cell in sorted(base.cells & head.cells):
        old, new, place = base.ledger(cell), head.ledger(cell), (cell.model, cell.backend)
        if cell.scenario not in FIRST_BUILDS or place not in asked - seen:
            continue
        if old is None or new is None:
            continue
        if same_workload(old, new):
            continue
        seen.add(place)  # the launches compile the same
        appeared, vanished = workload(old, new)
        if appeared or vanished:
            model, backend = place
            yield Workload(model=model, backend=backend, appeared=appeared, vanished=vanished)


def _differences(setting: Setting) -> list[Difference]:
    base, head = setting.base, setting.head
    pairs: list[tuple[str, str | None, str | None]] = [
        ("python", base.versions.python, head.versions.python),
        ("cpu", base.machine.cpu, head.machine.cpu),
        ("os", base.machine.os, head.machine.os),
    ]
    of_base, of_head = base.versions.every, head.versions.every
    names = sorted((of_base.keys() | of_head.keys()) - {"pytensor"})
    pairs += [(name, of_base.get(name), of_head.get(name)) for name in names]
    return [
        Difference(what=what, base=old, head=new, because=setting.apart.get(what, ""))
        for what, old, new in pairs if old != new
    ]  # fmt: skip


def _warnings(setting: Setting, noisy: Collection[Verdict]) -> Iterator[Statement]:
    """What a reader of the verdicts must know; ``noisy``: those of times and memory."""
    base, head = setting.base, setting.head
    if base.machine.cpu != head.machine.cpu:
        yield Statement("CPUs differ", (base.machine.cpu, head.machine.cpu))
    if not noisy:
        return
    if not setting.interleaved:
        yield Statement("measured apart", (SEPARATE_RUNS,))
    if setting.calibration is None:
        yield Statement("not calibrated", (DEFAULT_MINIMUM_EFFECT,))
    elif _usable(setting) is None:
        cpu = setting.calibration.machine.cpu
        yield Statement("calibrated elsewhere", (cpu, DEFAULT_MINIMUM_EFFECT))
    else:
        floors = floors_for(setting)
        known = sum(floors.noise(one.cell, one.metric) is not None for one in noisy)
        if known < len(noisy):
            yield Statement("partly calibrated", (known, len(noisy), DEFAULT_MINIMUM_EFFECT))


def floors_for(setting: Setting) -> NoiseFloors:
    """The smallest changes that count in a comparison."""
    return NoiseFloors.of(_usable(setting), setting.interleaved)


def _usable(setting: Setting) -> Calibration | None:
    known = setting.calibration
    return known if known and known.machine.cpu == setting.head.machine.cpu else None


class Finding(NamedTuple):
    """One verdict, in the few values that the page needs."""

    cell: str
    metric: str
    unit: str
    kind: str
    conclusion: Conclusion
    before: float | None
    """The median of the base's values, of correctness the highest; None without a value."""
    after: float | None
    ratio: float | None
    reason: str | None


@dataclass(frozen=True)
class Pair:
    """The result of comparing two saved subjects."""

    outcome: Outcome
    findings: Sequence[Finding]
    missing: Sequence[tuple[str, str, str]]
    """The cell, the side that lacks it (base, head or both), and why."""
    causes: Sequence[str]
    """Sentences, the most important first; they call the sides BASE and HEAD."""
    warnings: Sequence[str]


def who_of(header: JournalHeader) -> Who:
    """The subject that a journal is of."""
    return header.machine.machine, header.subject.env_name, header.subject.commit


def setting_of(
    base: Saved,
    head: Saved,
    calibration: Calibration | None,
    *,
    seed: int = 0,
    observatory: str = "",
    reproduce: str = "",
    other_speed: OtherSpeed | None = None,
) -> Setting:
    """The setting of a comparison of two saved subjects."""
    sides = [
        Side(subject=h.subject, versions=h.versions, machine=h.machine)
        for h in (base.header, head.header)
    ]
    return Setting(
        base=sides[0], head=sides[1], started_at=datetime.now(UTC),
        interleaved=base.interleaved_with(head), seed=seed, observatory=observatory,
        reproduce=reproduce, calibration=calibration, other_speed=other_speed,
    )  # fmt: skip


def pairs_of(
    subjects: Iterable[Saved],
    wanted: Collection[tuple[Who, Who]],
    calibrations: Mapping[str, Calibration],
    observatory: str,
    other_speeds: Mapping[tuple[Who, Who], OtherSpeed] = MappingProxyType({}),
) -> Iterator[tuple[Who, Who, Compared]]:
    """The wanted pairs of these subjects: base, head, and what their comparison concludes.

    ``calibrations``: by machine. ``other_speeds``: of the pairs between which it changed.
    """
    known = {who_of(one.header): (one, Evidence.of(one.samples)) for one in subjects}
    for left, right in wanted:
        (base, old), (head, new) = known[left], known[right]
        calibration = calibrations.get(head.header.machine.machine)
        setting = setting_of(
            base, head, calibration, observatory=observatory,
            other_speed=other_speeds.get((left, right)),
        )  # fmt: skip
        yield left, right, compared(setting, old, new, conclusions_only=True)


def pair_of(comparison: Comparison) -> Pair:
    """The verdicts of a comparison, without their values."""
    return Pair(
        outcome_of(comparison),
        [
            Finding(
                str(one.cell), one.metric, one.unit, one.kind, one.conclusion,
                _value(one, one.base), _value(one, one.head),
                None if one.ratio is None else one.ratio.estimate, one.reason,
            )
            for one in comparison.verdicts
        ],
        [(str(one.cell), one.side, one.reason) for one in comparison.missing],
        [cause.sentence for cause in comparison.causes],
        list(comparison.warnings),
    )  # fmt: skip


def _value(verdict: Verdict, side: Values) -> float | None:
    if not side.values:
        return None
    return max(side.values) if verdict.metric in CORRECTNESS else median(side.values)
