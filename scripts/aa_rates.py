"""How often `compare` alarms for nothing, and what it finds: from one pool of real samples.

    observatory calibrate --subject 3.3.7 --samples 420 --backend NUMBA --backend C
    .venv/bin/python scripts/aa_rates.py .observatory/calibrations/RUN [--json FILE]

The pool holds samples of one subject. Blocks of neighbours that share no sample stand for
comparisons: each pair of neighbours is dealt to BASE and HEAD at random, as `compare` deals them.
Every alarm is false. Minimum effects are calibrated on the half of the pool that a block is not
in. For power, one cell's HEAD is made slower by a known factor, the other cells stay.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.vocabulary import Cell, metrics_of
from observatory.decide import noisy
from observatory.decide.evidence import Evidence
from observatory.decide.floors import SMALLEST, noise_floor
from observatory.decide.noisy import DEFAULT_MINIMUM_EFFECT, FEWEST, LOOKS
from observatory.decide.verdicts import JUDGED_NOISY
from observatory.record.saved import load

STEPS = (1.02, 1.03, 1.05, 1.07, 1.10, 1.15, 1.20)
STEPPED = ("compile_time", "call_time")
WANTED = 0.9
"""Share of steps that have to be found for a step to count as found."""

Place = tuple[Cell, str]


@dataclass(frozen=True)
class Rates:
    """What comparisons of `size` processes a side come to."""

    size: int
    comparisons: int
    verdicts: int
    alarms: int
    undecided: int
    found: dict[str, dict[float, float]]
    """metric -> step -> share of the comparisons in which it was called worse"""


def pool_of(text: str) -> dict[Place, np.ndarray]:
    """The judged values of each cell, in the order taken."""
    evidence = Evidence.of(load(text).samples)
    found = {}
    for cell in sorted(evidence.cells):
        for metric in metrics_of(cell.scenario, cell.launch):
            values = evidence.values(cell, metric).values
            if metric.name in JUDGED_NOISY and len(values) >= 4 * FEWEST:
                found[cell, metric.name] = np.asarray(values)
    return found


def rates(pool: dict[Place, np.ndarray], size: int, calibrated: bool, seed: int) -> Rates:
    """Every comparison of `size` a side that the pool holds."""
    rng = np.random.default_rng(seed)
    alarms = undecided = verdicts = comparisons = 0
    found: dict[str, dict[float, list[bool]]] = {m: {s: [] for s in STEPS} for m in STEPPED}
    for block, floors in _blocks(pool, size, calibrated, seed):
        comparisons += 1
        sides = {place: _dealt(values, rng) for place, values in block.items()}
        tests = {place: noisy.tested(*pair, seed) for place, pair in sides.items()}
        for conclusion in _concluded(tests, floors).values():
            verdicts += 1
            alarms += conclusion in ("worse", "better")
            undecided += conclusion == "undecided"
        for place, (base, head) in sides.items():
            for step in STEPS if place[1] in STEPPED else ():
                stepped = noisy.tested(base, [value * step for value in head], seed)
                concluded = _concluded(tests | {place: stepped}, floors)[place]
                found[place[1]][step].append(concluded == "worse")
    shares = {m: {s: float(np.mean(f)) for s, f in by.items() if f} for m, by in found.items()}
    return Rates(size, comparisons, verdicts, alarms, undecided, shares)


def _blocks(
    pool: dict[Place, np.ndarray], size: int, calibrated: bool, seed: int
) -> Iterator[tuple[dict[Place, np.ndarray], dict[Place, float]]]:
    """Blocks of 2 x size neighbours in every cell, and the floors of the other half of the pool."""
    length = min(len(values) for values in pool.values())
    half = length // 2
    for own, other in (
        (slice(0, half), slice(half, length)),
        (slice(half, length), slice(0, half)),
    ):
        rng = np.random.default_rng(seed)
        floors = {
            place: max(SMALLEST, noise_floor(values[other], rng))
            if calibrated
            else DEFAULT_MINIMUM_EFFECT
            for place, values in pool.items()
        }
        for start in range(own.start, own.stop - 2 * size + 1, 2 * size):
            yield {p: values[start : start + 2 * size] for p, values in pool.items()}, floors


def _dealt(values: np.ndarray, rng: np.random.Generator) -> tuple[list[float], list[float]]:
    pairs = rng.permuted(values.reshape(-1, 2), axis=1)
    return list(pairs[:, 0]), list(pairs[:, 1])


def _concluded(tests: dict[Place, noisy.Tested], floors: dict[Place, float]) -> dict[Place, str]:
    q_values = noisy.discoveries([test.p_value for test in tests.values()])
    return {
        place: noisy.conclude(test.ratio, q_value, floors[place])
        for (place, test), q_value in zip(tests.items(), q_values, strict=True)
    }


def table(found: list[Rates]) -> Table:
    """The rates for a terminal."""
    drawn = Table(title="A/A comparisons, and steps put into one cell")
    counts = ("a side", "comparisons", "verdicts", "alarms per 1000", "undecided per 1000")
    steps = [f"+{step - 1:.0%}" for step in STEPS]
    for header in (*counts, "metric", *steps, "found 9 times in 10"):
        drawn.add_column(header, justify="right")
    for one in found:
        for metric, shares in one.found.items():
            smallest = next((s for s in STEPS if shares.get(s, 0.0) >= WANTED), None)
            drawn.add_row(
                str(one.size), str(one.comparisons), str(one.verdicts),
                f"{1000 * one.alarms / one.verdicts:.1f}",
                f"{1000 * one.undecided / one.verdicts:.0f}", metric,
                *(f"{shares.get(step, float('nan')):.0%}" for step in STEPS),
                "-" if smallest is None else f"+{smallest - 1:.0%}",
            )  # fmt: skip
    return drawn


def main() -> int:
    """Evaluate and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("pool", help="results of `observatory calibrate`: DIR or DIR:LABEL")
    parser.add_argument("--uncalibrated", action="store_true", help="minimum effect of 5 %%")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    pool = pool_of(options.pool)
    found = [rates(pool, size, not options.uncalibrated, options.seed) for size in LOOKS]
    Console().print(table(found))
    if options.json:
        options.json.write_text(json.dumps([vars(one) for one in found], indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
