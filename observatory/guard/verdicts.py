"""What samples say of siblings that share a cache, and of a subject on another's cache."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from observatory.analyze.comparison.evidence import message_of
from observatory.benchmarks.catalogue import MEMBERS, WRONG_VALUES, Cell
from observatory.store.records.sample import Sample
from observatory.store.records.upgrades import Part, Upgrade

Fate = Literal["wrong", "crashed", "shared symbols", "not judged", "right"]
FATES: tuple[Fate, ...] = get_args(Fate)
"""Worst first."""
_FRESH = "fresh "
"""Prefix of the names of the checks of a build from empty."""


@dataclass(frozen=True)
class Finding:
    """The verdict on one cell of a canary, and its sample, if there is one."""

    cell: Cell
    fate: Fate
    sample: Sample | None = None


def judge(sample: Sample) -> Finding:
    """Judge a sample of siblings, or of graphs built apart.

    Wrong values outrank a crash, because nobody notices them.
    """
    return Finding(sample.cell, _fate(sample), sample)


def _fate(sample: Sample) -> Fate:
    counted = any(sample.metrics.get(metric, 0) for metric in WRONG_VALUES)
    if counted or any(check.wrong for check in sample.checks):
        return "wrong"
    if sample.status != "ok":
        return "not judged" if sample.status == "unavailable" else "crashed"
    return "shared symbols" if sample.metrics.get("collided_symbols") else "right"


def worst(findings: Iterable[Finding]) -> Fate:
    """The worst of the fates; "not judged" where there is nothing."""
    fates = {finding.fate for finding in findings}
    return next((fate for fate in FATES if fate in fates), "not judged")


def part(cell: Cell, fill: Sample, use: Sample | None, again: Sample | None) -> Part:
    """One cell of a pair, from the samples of base, of head and of base again.

    ``use``: None where base filled no cache. ``again``: None where base was not run again.
    """
    if use is None:
        failure = f"nothing was filled: {message_of(fill)}"
        return Part(model=cell.model, backend=cell.backend, failure=failure)
    built = [check.name for check in use.checks if not check.name.startswith(_FRESH)]
    fresh = {check.name.removeprefix(_FRESH) for check in use.checks} - {""}
    first = _first_outcomes(use)
    again_first = None if again is None or again.ledger is None else _first_outcomes(again)
    return Part(
        model=cell.model,
        backend=cell.backend,
        built=len(built),
        unsupported=[name for name in MEMBERS[cell.model] if name not in fresh],
        stale=use.stale,
        wrong=[check.name for check in use.checks if check.wrong and check.name in built],
        fresh_wrong=_fresh_wrong(use),
        base_wrong=_fresh_wrong(fill),
        reused=first["hit"],
        rebuilt=first["miss"] + first["uncacheable"],
        again_rebuilt=None if again_first is None else again_first["miss"],
        again_stale=[] if again is None else again.stale,
        failure=use.failure.message if use.failure else None,
    )


def _fresh_wrong(sample: Sample) -> list[str]:
    wrong = [check.name for check in sample.checks if check.wrong]
    return [name.removeprefix(_FRESH) for name in wrong if name.startswith(_FRESH)]


def _first_outcomes(sample: Sample) -> Counter[str]:
    """The number of functions by the outcome of the first request for each.

    A process finds what it has compiled itself: later requests say nothing about another's cache.
    """
    first: dict[str, str] = {}
    for number, entry in enumerate(sample.ledger or ()):
        first.setdefault(entry.key or f"without a key {number}", entry.outcome)
    return Counter(first.values())


def is_stale(upgrade: Upgrade) -> bool:
    """Whether either subject returned what the other would have computed."""
    return any(each.stale or each.again_stale for each in upgrade.parts)


def is_wrong(upgrade: Upgrade) -> bool:
    """Whether any value of head differs from the reference."""
    return any(each.wrong or each.fresh_wrong for each in upgrade.parts)
