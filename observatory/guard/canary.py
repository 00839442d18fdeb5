"""What the siblings of a canary returned: right, wrong, crashed, not judged. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from benchmarks.catalogue import Cell
from observatory.store.records.sample import Sample

Fate = Literal["wrong", "crashed", "shared symbols", "not judged", "right"]
FATES: tuple[Fate, ...] = get_args(Fate)
"""Worst first."""


@dataclass(frozen=True)
class Finding:
    """The verdict on one cell of a canary, and its sample, if there is one."""

    cell: Cell
    fate: Fate
    sample: Sample | None = None


def judge(sample: Sample) -> Finding:
    """Judge a sample of siblings. Wrong values outrank a crash, because nobody notices them."""
    return Finding(sample.cell, _fate(sample), sample)


def _fate(sample: Sample) -> Fate:
    if any(check.wrong for check in sample.checks):
        return "wrong"
    if sample.status != "ok":
        return "not judged" if sample.status == "unavailable" else "crashed"
    return "shared symbols" if sample.metrics.get("collided_symbols") else "right"


def worst(findings: Iterable[Finding]) -> Fate:
    """The worst of the fates; "not judged" where there is nothing."""
    fates = {finding.fate for finding in findings}
    return next((fate for fate in FATES if fate in fates), "not judged")
