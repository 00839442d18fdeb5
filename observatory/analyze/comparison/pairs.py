"""Verdicts on pairs of saved subjects, as the compare page shows them. Pure.

The functions of `observatory compare RESULTS:A RESULTS:B` make them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median
from typing import NamedTuple

from benchmarks.catalogue import CORRECTNESS
from observatory.analyze.comparison.comparing import (
    Compared,
    Outcome,
    Setting,
    compared,
    outcome_of,
)
from observatory.analyze.comparison.evidence import Evidence
from observatory.store.reading.saved import Saved
from observatory.store.records.calibration import Calibration
from observatory.store.records.comparison import Comparison, Conclusion, Side, Values, Verdict

Who = tuple[str, str, str]
"""A subject by its machine, its environment and its commit."""


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


def who(saved: Saved) -> Who:
    """The subject of saved results."""
    one = saved.header
    return one.machine.machine, one.subject.env_name, one.subject.commit


def setting_of(
    base: Saved,
    head: Saved,
    calibration: Calibration | None,
    *,
    seed: int = 0,
    observatory: str = "",
    reproduce: str = "",
) -> Setting:
    """The setting of a comparison of two saved subjects."""
    sides = [
        Side(subject=h.subject, versions=h.versions, machine=h.machine)
        for h in (base.header, head.header)
    ]
    return Setting(
        base=sides[0], head=sides[1], started_at=datetime.now(UTC),
        interleaved=base.interleaved_with(head), seed=seed, observatory=observatory,
        reproduce=reproduce, calibration=calibration,
    )  # fmt: skip


def pairs_of(
    subjects: Iterable[Saved],
    wanted: Collection[tuple[Who, Who]],
    calibrations: Mapping[str, Calibration],
    observatory: str,
) -> Iterator[tuple[Who, Who, Compared]]:
    """The wanted pairs of these subjects: base, head, and what their comparison concludes.

    ``calibrations``: by machine.
    """
    known = {who(one): (one, Evidence.of(one.samples)) for one in subjects}
    for left, right in wanted:
        (base, old), (head, new) = known[left], known[right]
        calibration = calibrations.get(head.header.machine.machine)
        setting = setting_of(base, head, calibration, observatory=observatory)
        yield left, right, compared(setting, old, new, conclusions_only=True)


def pair_of(comparison: Comparison) -> Pair:
    """The verdicts of a comparison, without their values."""
    return Pair(
        outcome_of(comparison),
        [_finding(verdict) for verdict in comparison.verdicts],
        [(str(one.cell), one.side, one.reason) for one in comparison.missing],
        [cause.sentence for cause in comparison.causes],
        list(comparison.warnings),
    )


def _finding(verdict: Verdict) -> Finding:
    return Finding(
        str(verdict.cell),
        verdict.metric, verdict.unit, verdict.kind, verdict.conclusion,
        _value(verdict, verdict.base), _value(verdict, verdict.head),
        None if verdict.ratio is None else verdict.ratio.estimate, verdict.reason,
    )  # fmt: skip


def _value(verdict: Verdict, side: Values) -> float | None:
    if not side.values:
        return None
    return max(side.values) if verdict.metric in CORRECTNESS else median(side.values)
