"""How often `compare` alarms for nothing, and what it finds: from one pool of real samples.

    observatory calibrate --subject 3.3.7 --samples 420 --backend NUMBA --backend C
    .venv/bin/python scripts/aa_rates.py .observatory/calibrations/RUN --keep FILE.parquet
    .venv/bin/python scripts/aa_rates.py FILE.parquet [--json FILE]

What is kept are the judged values alone, few enough for git (results/pools/).
The pool holds samples of one subject. Blocks of neighbours that share no sample stand for
comparisons: each pair of neighbours is dealt to BASE and HEAD at random, as `compare` deals them.
Every alarm is false. Minimum effects are calibrated on the half of the pool that a block is not
in. For power, one cell's HEAD is made slower by a known factor, the other cells stay.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table

from benchmarks.catalogue import Cell, metrics_of
from observatory.analyze.comparison import noisy
from observatory.analyze.comparison.evidence import Evidence
from observatory.analyze.comparison.noise_floors import at_size, noise_floor
from observatory.analyze.comparison.noisy import DEFAULT_MINIMUM_EFFECT, FEWEST, LOOKS
from observatory.analyze.comparison.rules import JUDGED_NOISY
from observatory.analyze.comparison.verdicts import ONCE
from observatory.store.journal.models import JournalHeader
from observatory.store.reading.saved import load

STEPS = (1.02, 1.03, 1.05, 1.07, 1.10, 1.15, 1.20)
STEPPED = ("compile_time", "call_time")
WANTED = 0.9
"""Share of steps that have to be found for a step to count as found."""

Place = tuple[Cell, str]
Values = np.ndarray
"""Values in the order taken, a column for each cell that a metric is judged over."""
Sides = dict[Place, tuple[Values, Values]]


@dataclass(frozen=True)
class Rates:
    """What comparisons of so many processes a side come to."""

    size: str
    """How many a side, or that the looks were followed as `compare` follows them."""
    comparisons: int
    verdicts: int
    alarms: int
    undecided: int
    found: dict[str, dict[float, float]]
    """metric -> step -> share of the comparisons in which it was called worse"""


def pool_of(text: str) -> dict[Place, Values]:
    """The judged values of each cell; those of a metric that is judged once, under the first."""
    if text.endswith(".parquet"):
        return kept_pool(Path(text))
    evidence = Evidence.of(load(text).samples)
    columns: dict[Place, list[list[float]]] = {}
    first: dict[str, Cell] = {}
    for cell in sorted(evidence.cells):
        for metric in metrics_of(cell.scenario, cell.launch):
            values = evidence.values(cell, metric).values
            if metric.name in JUDGED_NOISY and len(values) >= 4 * FEWEST:
                place = first.setdefault(metric.name, cell) if metric.name in ONCE else cell
                columns.setdefault((place, metric.name), []).append(values)
    if not columns:
        raise SystemExit(f"{text} has no cell with {4 * FEWEST} timed processes")
    length = min(len(values) for each in columns.values() for values in each)
    return {place: np.array([v[:length] for v in each]).T for place, each in columns.items()}


def keep(pool: dict[Place, Values], header: JournalHeader, path: Path) -> None:
    """Write the values: a row for each cell and metric, by process and then by column."""
    of = {
        "subject": header.subject.label, "python": header.versions.python,
        "numba": header.versions.numba, "machine": header.machine.machine,
        "cpu": header.machine.cpu,
    }  # fmt: skip
    rows = [
        {**of, **asdict(cell), "metric": metric, "columns": many.shape[1], "values": many.ravel()}
        for (cell, metric), many in pool.items()
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows).to_parquet(path, index=False, compression="zstd")


def kept_pool(path: Path) -> dict[Place, Values]:
    """What `keep` wrote."""
    axes = [axis.name for axis in fields(Cell)]
    return {
        (Cell(**{axis: row[axis] for axis in axes}), row["metric"]): np.reshape(
            row["values"], (-1, row["columns"])
        )
        for row in pd.read_parquet(path).to_dict("records")
    }


def rates(pool: dict[Place, Values], looks: tuple[int, ...], calibrated: bool, seed: int) -> Rates:
    """Every comparison that the pool holds, ended for each cell by the look that decides it."""
    rng = np.random.default_rng(seed)
    alarms = undecided = verdicts = comparisons = 0
    found: dict[str, dict[float, list[bool]]] = {m: {s: [] for s in STEPS} for m in STEPPED}
    for block, floors in _blocks(pool, looks[-1], calibrated, seed):
        comparisons += 1
        sides = {place: _dealt(values, rng) for place, values in block.items()}
        concluded = _compared(sides, floors, looks, seed)
        verdicts += len(concluded)
        alarms += sum(one in ("worse", "better") for one in concluded.values())
        undecided += sum(one == "undecided" for one in concluded.values())
        for place, (base, head) in sides.items():
            for step in STEPS if place[1] in STEPPED else ():
                stepped = sides | {place: (base, head * step)}
                concluded = _compared(stepped, floors, looks, seed)
                found[place[1]][step].append(concluded[place] == "worse")
    shares = {m: {s: float(np.mean(f)) for s, f in by.items() if f} for m, by in found.items()}
    name = " to ".join(dict.fromkeys(map(str, (looks[0], looks[-1]))))
    return Rates(name, comparisons, verdicts, alarms, undecided, shares)


def _compared(
    sides: Sides, floors: dict[Place, float], looks: tuple[int, ...], seed: int
) -> dict[Place, str]:
    """The verdicts, as `compare` reaches them: undecided cells are taken on to the next look."""
    taken = dict.fromkeys(sides, looks[0])
    concluded = _concluded(sides, taken, floors, seed)
    for look in looks[1:]:
        further = {cell for (cell, _), one in concluded.items() if one == "undecided"}
        taken = {place: look if place[0] in further else n for place, n in taken.items()}
        concluded = _concluded(sides, taken, floors, seed)
    return concluded


def _concluded(
    sides: Sides, taken: dict[Place, int], floors: dict[Place, float], seed: int
) -> dict[Place, str]:
    most = max(taken.values())
    tests = {
        place: _tested(
            *(tuple(side[: taken[place]].T.ravel()) for side in pair), seed,
            most if place[1] in ONCE else None,
        )
        for place, pair in sides.items()
    }  # fmt: skip
    q_values = noisy.discoveries([(place[1], test.over_looks) for place, test in tests.items()])
    found = {}
    for (place, test), q_value in zip(tests.items(), q_values, strict=True):
        processes = taken[place] * sides[place][0].shape[1]
        floor = floors.get(place)
        effect = DEFAULT_MINIMUM_EFFECT if floor is None else at_size(floor, processes)
        found[place] = noisy.conclude(test.ratio, q_value, effect)
    return found


@lru_cache(maxsize=200_000)
def _tested(
    base: tuple[float, ...], head: tuple[float, ...], seed: int, look: int | None
) -> noisy.Tested:
    return noisy.tested(base, head, seed, paired=True, look=look)


def _blocks(
    pool: dict[Place, Values], size: int, calibrated: bool, seed: int
) -> Iterator[tuple[dict[Place, Values], dict[Place, float]]]:
    """Blocks of 2 x size neighbours in every cell, and the floors of the other half of the pool."""
    length = min(len(values) for values in pool.values())
    halves = slice(0, length // 2), slice(length // 2, length)
    for own, other in (halves, halves[::-1]):
        rng = np.random.default_rng(seed)
        floors = {p: noise_floor(values[other, 0], rng) for p, values in pool.items()}
        for start in range(own.start, own.stop - 2 * size + 1, 2 * size):
            block = {place: values[start : start + 2 * size] for place, values in pool.items()}
            yield block, floors if calibrated else {}


def _dealt(values: Values, rng: np.random.Generator) -> tuple[Values, Values]:
    """Neighbours dealt to two sides at random."""
    pairs = rng.permuted(values.reshape(-1, 2, values.shape[1]), axis=1)
    return pairs[:, 0], pairs[:, 1]


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
                one.size, str(one.comparisons), str(one.verdicts),
                f"{1000 * one.alarms / one.verdicts:.1f}",
                f"{1000 * one.undecided / one.verdicts:.0f}", metric,
                *(f"{shares.get(step, float('nan')):.0%}" for step in STEPS),
                "-" if smallest is None else f"+{smallest - 1:.0%}",
            )  # fmt: skip
    return drawn


def main() -> int:
    """Evaluate and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("pool", help="of `observatory calibrate` (DIR or DIR:LABEL) or of --keep")
    parser.add_argument("--uncalibrated", action="store_true", help="minimum effect of 5 %%")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--keep", type=Path, help="write the judged values: FILE.parquet")
    options = parser.parse_args()
    pool = pool_of(options.pool)
    if options.keep:
        keep(pool, load(options.pool).header, options.keep)
    length = min(map(len, pool.values()))
    up_to = [tuple(LOOKS)[:many] for many in range(2, len(LOOKS) + 1)]
    plans = [looks for looks in (*((look,) for look in LOOKS), *up_to) if length >= 4 * looks[-1]]
    found = [rates(pool, looks, not options.uncalibrated, options.seed) for looks in plans]
    Console().print(table(found))
    if options.json:
        options.json.write_text(json.dumps([vars(one) for one in found], indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
