"""Two sides' evidence made into one comparison. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from benchmarks.catalogue import Cell
from observatory.analyze.comparison.causes import explained
from observatory.analyze.comparison.evidence import Evidence
from observatory.analyze.comparison.functions import workload
from observatory.analyze.comparison.noise_floors import SEPARATE_RUNS, NoiseFloors
from observatory.analyze.comparison.noisy import DEFAULT_MINIMUM_EFFECT
from observatory.analyze.comparison.reuse import same_workload
from observatory.analyze.comparison.verdicts import judge_exact, judge_noisy
from observatory.store.records.calibration import Calibration
from observatory.store.records.comparison import Comparison, Difference, Side, Workload
from observatory.text import reasons
from observatory.text.units import percent

Outcome = Literal["wrong results", "worse", "undecided", "calm"]


@dataclass(frozen=True)
class Setting:
    """What a comparison was made of and how, beside its samples."""

    base: Side
    head: Side
    started_at: datetime
    interleaved: bool
    seed: int
    observatory: str
    reproduce: str
    calibration: Calibration | None = None


def compared(
    setting: Setting,
    base: Evidence,
    head: Evidence,
    seconds: float,
    cells: Collection[Cell] | None = None,
    timed: Collection[Cell] = (),
    warnings: Sequence[str] = (),
    conclusions_only: bool = False,
) -> Comparison:
    """Compare everything that was measured so far.

    ``cells``: those that were asked for; by default those that either side has. ``seconds``: wall
    time of the comparison so far. ``timed``: cells of which a time was wanted. ``warnings``:
    sentences of whoever measured. ``conclusions_only``: as `judge_noisy` has it.
    """
    asked = sorted(base.cells | head.cells if cells is None else cells)
    floors = NoiseFloors.of(_usable(setting), setting.interleaved)
    exact = judge_exact(asked, base, head, floors)
    other = setting.base.machine.cpu != setting.head.machine.cpu
    noisy = judge_noisy(
        asked, base, head, floors, setting.seed, reasons.OTHER_CPU if other else None, timed,
        conclusions_only,
    )  # fmt: skip
    causes, verdicts = explained([*exact.verdicts, *noisy], base, head)
    return Comparison(
        observatory=setting.observatory, base=setting.base, head=setting.head,
        started_at=setting.started_at, seconds=round(seconds, 1),
        interleaved=setting.interleaved, seed=setting.seed, verdicts=verdicts, causes=causes,
        workload=list(_workload(base, head, {(cell.model, cell.backend) for cell in asked})),
        missing=exact.missing,
        differences=list(_differences(setting)),
        warnings=[*warnings, *_warnings(setting, times=bool(noisy))],
        reproduce=setting.reproduce,
    )  # fmt: skip


def outcome_of(comparison: Comparison) -> Outcome:
    """The one word for a comparison: wrong numbers first, then worse, then not judged."""
    worse = {verdict.metric for verdict in comparison.worse}
    if "wrong_results" in worse:
        return "wrong results"
    if worse:
        return "worse"
    return "undecided" if comparison.undecided or comparison.missing else "calm"


def _workload(
    base: Evidence, head: Evidence, asked: Collection[tuple[str, str]]
) -> Iterator[Workload]:
    """By model and backend, of those that were asked for: the cold builds tell it, asked or not."""
    seen = set()
    for cell in sorted(base.cells & head.cells):
        old, new = base.ledger(cell), head.ledger(cell)
        if cell.scenario != "cold" or old is None or new is None:
            continue
        if (cell.model, cell.backend) not in asked or (cell.model, cell.backend) in seen:
            continue
        if same_workload(old, new):
            continue
        seen.add((cell.model, cell.backend))  # the launches compile the same
        appeared, vanished = workload(old, new)
        if appeared or vanished:
            yield Workload(
                model=cell.model, backend=cell.backend, appeared=appeared, vanished=vanished
            )


def _differences(setting: Setting) -> Iterator[Difference]:
    base, head = setting.base, setting.head
    pairs: Iterable[tuple[str, str | None, str | None]] = (
        ("python", base.versions.python, head.versions.python),
        ("cpu", base.machine.cpu, head.machine.cpu),
        ("os", base.machine.os, head.machine.os),
        *(
            (name, base.versions.packages.get(name), head.versions.packages.get(name))
            for name in sorted(base.versions.packages.keys() | head.versions.packages.keys())
            if name != "pytensor"
        ),
    )
    for what, old, new in pairs:
        if old != new:
            yield Difference(what=what, base=old, head=new)


def _warnings(setting: Setting, times: bool) -> Iterator[str]:
    """What the verdicts have to be read with; of times only where there are ``times``."""
    base, head = setting.base, setting.head
    if base.machine.cpu != head.machine.cpu:
        yield reasons.CPUS_DIFFER.format(base.machine.cpu, head.machine.cpu)
    if not times:
        return
    if not setting.interleaved:
        yield reasons.MEASURED_APART.format(percent(SEPARATE_RUNS))
    if setting.calibration is None:
        yield reasons.NOT_CALIBRATED.format(percent(DEFAULT_MINIMUM_EFFECT))
    elif _usable(setting) is None:
        cpu = setting.calibration.machine.cpu
        yield reasons.CALIBRATED_ELSEWHERE.format(cpu, percent(DEFAULT_MINIMUM_EFFECT))


def _usable(setting: Setting) -> Calibration | None:
    known = setting.calibration
    return known if known and known.machine.cpu == setting.head.machine.cpu else None
