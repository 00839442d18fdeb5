"""The smallest change that counts, learned from the noise of a machine. Pure.

A minimum effect is never below SMALLEST: a change of one per cent may be sure and still matter to
nobody. Without a calibration it is `noisy.DEFAULT_MINIMUM_EFFECT`. What is learned of near-exact
metrics is the part of chance in their rules (`rules.Rule.spread`). Only samples of one subject say
what chance does: neighbours of a history also differ by what was changed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from observatory.analyze.chance import FEWEST
from observatory.analyze.comparison.evidence import Evidence
from observatory.analyze.comparison.noisy import DEFAULT_MINIMUM_EFFECT, hodges_lehmann
from observatory.analyze.comparison.rules import COUNTED, Noise
from observatory.benchmarks.catalogue import Cell, metrics_of
from observatory.store.records.calibration import Calibration, Floor

SMALLEST = 0.03
SEPARATE_RUNS = 0.25
"""Smallest change of a noisy metric that counts between runs that were not interleaved: nothing
measured inside a run sees what differs between runs."""
QUANTILE = 0.99
_DRAWS = 10_000

_Key = tuple[Cell, str]


@dataclass(frozen=True)
class NoiseFloors:
    """What was learned of a machine, by cell and metric."""

    learned: Mapping[_Key, Noise] = field(default_factory=dict)
    interleaved: bool = True

    @classmethod
    def of(cls, calibration: Calibration | None, interleaved: bool = True) -> NoiseFloors:
        """The floors of a machine; None: it was never calibrated."""
        floors = () if calibration is None else calibration.floors
        found = {(f.cell, f.metric): Noise(f.change, f.samples, f.source) for f in floors}
        return cls(found, interleaved)

    def minimum_effect(self, cell: Cell, metric: str, processes: int = FEWEST) -> float:
        """For a noisy metric of which each side has that many processes.

        What chance does was measured with FEWEST a side, and falls with the root of their number.
        """
        known = self.noise(cell, metric)
        floor = DEFAULT_MINIMUM_EFFECT if known is None else at_size(known.change, processes)
        return floor if self.interleaved else max(floor, SEPARATE_RUNS)

    def noise(self, cell: Cell, metric: str) -> Noise | None:
        """What was learned of a metric; None where the machine was not calibrated."""
        return self.learned.get((cell, metric))


def at_size(change: float, processes: int) -> float:
    """The minimum effect with that many processes a side, from a floor measured with FEWEST."""
    return max(SMALLEST, change * math.sqrt(FEWEST / max(processes, FEWEST)))


def floors_of(evidence: Evidence, seed: int) -> Iterator[Floor]:
    """The floors that samples of one subject, taken in this order, show.

    Noisy metrics need two times FEWEST values in a cell. Near-exact ones need two times COUNTED; of
    fewer, but at least two, the floor is their range, as far as it stays between means of COUNTED.
    A machine's drift does not move counts. Their hash seeds do, and neighbours may share one: any
    two of them are compared.
    """
    rng = np.random.default_rng(seed)
    for cell in sorted(evidence.cells):
        for metric in metrics_of(cell.scenario, cell.launch):
            values = [max(one, metric.resolution) for one in evidence.values(cell, metric).values]
            if metric.kind == "noisy" and len(values) >= 2 * FEWEST and min(values) > 0:
                change = noise_floor(values, rng)
            elif metric.all_of > 1:
                continue
            elif metric.kind == "near_exact" and len(values) >= 2 and min(values) > 0:
                enough = len(values) >= 2 * COUNTED
                apart = (max(values) / min(values) - 1) / math.sqrt(COUNTED)
                change = noise_floor(values, rng, COUNTED, drifts=False) if enough else apart
            else:
                continue
            yield Floor(
                cell=cell, metric=metric.name,
                kind="noisy" if metric.kind == "noisy" else "near_exact",
                samples=len(values), change=round(change, 6), source=evidence.source(cell, metric),
            )  # fmt: skip


def noise_floor(
    values: Sequence[float], rng: np.random.Generator, processes: int = FEWEST, drifts: bool = True
) -> float:
    """The relative change that one in a hundred A/A comparisons of ``processes`` a side exceeds.

    Each comparison takes twice as many values in a row, as a comparison would have taken them, and
    deals each pair of neighbours to the two sides at random; without ``drifts``, any values.
    ``values``: positive, in the order taken, at least twice ``processes``.
    """
    logs = np.log(np.asarray(values, dtype=float))
    if drifts:
        starts = rng.integers(0, len(logs) - 2 * processes + 1, size=_DRAWS)
        chosen = starts[:, None] + np.arange(2 * processes)
    else:
        chosen = rng.random((_DRAWS, len(logs))).argsort(axis=1)[:, : 2 * processes]
    pairs = logs[chosen].reshape(_DRAWS, processes, 2)
    swapped = rng.random((_DRAWS, processes)) < 0.5
    left = np.where(swapped, pairs[..., 1], pairs[..., 0])
    right = np.where(swapped, pairs[..., 0], pairs[..., 1])
    apart = np.abs(hodges_lehmann(left, right))
    return float(np.expm1(np.quantile(apart, QUANTILE)))
