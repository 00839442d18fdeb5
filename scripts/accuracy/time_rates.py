"""The error rates of `compare`: false alarms, and the steps that it finds, on real samples.

    observatory calibrate --subject 3.3.7 --samples 420 --backend NUMBA --backend C
    python -m scripts.accuracy.time_rates .observatory/calibrations/RUN --keep FILE.parquet
    python -m scripts.accuracy.time_rates FILE.parquet [--json FILE]

`--keep` writes the judged values, which are few enough for git (results/pools/). The pool contains
samples of one subject, so every alarm is false. Disjoint blocks of neighbouring samples are used as
comparisons: each pair of neighbours is assigned to BASE and HEAD at random, as `compare` does it.
Minimum effects are calibrated on the half of the pool that a block is not in. For the power, HEAD
is made slower by a known factor in one cell at a time.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

from observatory.analyze.chance import FEWEST
from observatory.analyze.comparison import noisy
from observatory.analyze.comparison.evidence import Evidence
from observatory.analyze.comparison.noise_floors import at_size, noise_floor
from observatory.analyze.comparison.noisy import DEFAULT_MINIMUM_EFFECT, LOOKS
from observatory.analyze.comparison.rules import JUDGED_NOISY, ONCE
from observatory.benchmarks.catalogue import Cell, metrics_of
from observatory.store.journal.models import JournalHeader
from observatory.store.reading.saved import load

STEPS = (1.02, 1.03, 1.05, 1.07, 1.10, 1.15, 1.20)
STEPPED = ("compile_time", "call_time")
WANTED = 0.9
"""The share of comparisons that must find a step."""

SeriesKey = tuple[Cell, str]
"""A cell and the name of a metric."""
Values = np.ndarray
"""Values in the order of measurement, with a column for each cell that is judged together."""
Pool = dict[SeriesKey, Values]
Sides = dict[SeriesKey, tuple[Values, Values]]


@dataclass(frozen=True)
class Rates:
    """The results of all comparisons with a number of processes per side."""

    size: str
    """Processes per side, or the first and the last look of a sequential comparison."""
    comparisons: int
    verdicts: int
    alarms: int
    undecided: int
    found: dict[str, dict[float, float]]
    """Metric -> step -> share of the comparisons that called it worse."""


def pool_of(text: str) -> Pool:
    """The judged values of each series; metrics judged once have the key of their first cell."""
    if text.endswith(".parquet"):
        return kept_pool(Path(text))
    evidence = Evidence.of(load(text).samples)
    columns: dict[SeriesKey, list[list[float]]] = {}
    first: dict[str, Cell] = {}
    for cell in sorted(evidence.cells):
        for metric in metrics_of(cell.scenario, cell.launch):
            values = evidence.values(cell, metric).values
            if metric.name in JUDGED_NOISY and len(values) >= 4 * FEWEST:
                key = first.setdefault(metric.name, cell) if metric.name in ONCE else cell
                columns.setdefault((key, metric.name), []).append(values)
    if not columns:
        raise SystemExit(f"{text} has no cell with {4 * FEWEST} timed processes")
    length = min(len(values) for each in columns.values() for values in each)
    return {key: np.array([v[:length] for v in each]).T for key, each in columns.items()}


def keep(pool: Pool, header: JournalHeader, path: Path) -> None:
    """Write the values as Parquet: a row for each series, with the values of all processes."""
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


def kept_pool(path: Path) -> Pool:
    """The pool that `keep` wrote."""
    rows = pd.read_parquet(path).to_dict("records")
    cells = [Cell(*(row[axis.name] for axis in fields(Cell))) for row in rows]
    return {
        (cell, row["metric"]): np.reshape(row["values"], (-1, row["columns"]))
        for cell, row in zip(cells, rows, strict=True)
    }


def rates(pool: Pool, looks: tuple[int, ...], calibrated: bool, seed: int) -> Rates:
    """Make every comparison in the pool; each cell ends with the look that decides it."""
    rng = np.random.default_rng(seed)
    verdicts: Counter[str] = Counter()
    found: dict[str, dict[float, list[bool]]] = {m: {s: [] for s in STEPS} for m in STEPPED}
    blocks = list(_blocks(pool, looks[-1], calibrated, seed))
    for block, floors in blocks:
        sides = {}
        for key, values in block.items():
            pairs = rng.permuted(values.reshape(-1, 2, values.shape[1]), axis=1)
            sides[key] = pairs[:, 0], pairs[:, 1]
        verdicts.update(_compared(sides, floors, looks, seed).values())
        for key, (base, head) in sides.items():
            for step in STEPS if key[1] in STEPPED else ():
                stepped = sides | {key: (base, head * step)}
                concluded = _compared(stepped, floors, looks, seed)
                found[key[1]][step].append(concluded[key] == "worse")
    shares = {m: {s: float(np.mean(f)) for s, f in by.items() if f} for m, by in found.items()}
    name = " to ".join(dict.fromkeys(map(str, (looks[0], looks[-1]))))
    alarms = verdicts["worse"] + verdicts["better"]
    return Rates(name, len(blocks), verdicts.total(), alarms, verdicts["undecided"], shares)


def _compared(
    sides: Sides, floors: dict[SeriesKey, float], looks: tuple[int, ...], seed: int
) -> dict[SeriesKey, str]:
    """The verdicts as `compare` reaches them: undecided cells continue to the next look."""
    taken = dict.fromkeys(sides, looks[0])
    concluded = _concluded(sides, taken, floors, seed)
    for look in looks[1:]:
        further = {cell for (cell, _), one in concluded.items() if one == "undecided"}
        taken = {key: look if key[0] in further else n for key, n in taken.items()}
        concluded = _concluded(sides, taken, floors, seed)
    return concluded


def _concluded(
    sides: Sides, taken: dict[SeriesKey, int], floors: dict[SeriesKey, float], seed: int
) -> dict[SeriesKey, str]:
    most = max(taken.values())
    tests = {
        key: _tested(
            *(tuple(side[: taken[key]].T.ravel()) for side in pair), seed,
            most if key[1] in ONCE else None,
        )
        for key, pair in sides.items()
    }  # fmt: skip
    q_values = noisy.discoveries([(key[1], test.over_looks) for key, test in tests.items()])
    found = {}
    for (key, test), q_value in zip(tests.items(), q_values, strict=True):
        processes = taken[key] * sides[key][0].shape[1]
        floor = floors.get(key)
        effect = DEFAULT_MINIMUM_EFFECT if floor is None else at_size(floor, processes)
        found[key] = noisy.conclude(test.ratio, q_value, effect)
    return found


@lru_cache(maxsize=200_000)
def _tested(
    base: tuple[float, ...], head: tuple[float, ...], seed: int, look: int | None
) -> noisy.Tested:
    return noisy.tested(base, head, seed, paired=True, look=look)


def _blocks(
    pool: Pool, size: int, calibrated: bool, seed: int
) -> Iterator[tuple[Pool, dict[SeriesKey, float]]]:
    """Blocks of 2 x size neighbours, and the noise floors from the other half of the pool."""
    length = min(len(values) for values in pool.values())
    halves = slice(0, length // 2), slice(length // 2, length)
    for own, other in (halves, halves[::-1]):
        rng = np.random.default_rng(seed)
        floors = {p: noise_floor(values[other, 0], rng) for p, values in pool.items()}
        for start in range(own.start, own.stop - 2 * size + 1, 2 * size):
            block = {key: values[start : start + 2 * size] for key, values in pool.items()}
            yield block, floors if calibrated else {}


def table(found: list[Rates]) -> pd.DataFrame:
    """The rates as a table for people, with a row for each size and metric."""
    return pd.DataFrame(
        {
            "per side": one.size, "comparisons": one.comparisons, "verdicts": one.verdicts,
            "alarms per 1000": f"{1000 * one.alarms / one.verdicts:.1f}",
            "undecided per 1000": f"{1000 * one.undecided / one.verdicts:.0f}", "metric": metric,
            **{f"+{step - 1:.0%}": f"{shares.get(step, float('nan')):.0%}" for step in STEPS},
            "found in 9 of 10": next(
                (f"+{s - 1:.0%}" for s in STEPS if shares.get(s, 0.0) >= WANTED), "-"
            ),
        }
        for one in found
        for metric, shares in one.found.items()
    )  # fmt: skip


def main() -> int:
    """Evaluate a pool and print its rates."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("pool", help="a calibration (DIR or DIR:LABEL), or a file of --keep")
    parser.add_argument("--uncalibrated", action="store_true", help="minimum effect of 5 %%")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--keep", type=Path, help="write the judged values: FILE.parquet")
    options = parser.parse_args()
    if options.keep and options.pool.endswith(".parquet"):
        parser.error("--keep is for a calibration; the file already has the judged values")
    pool = pool_of(options.pool)
    if options.keep:
        keep(pool, load(options.pool).header, options.keep)
    length = min(map(len, pool.values()))
    up_to = [tuple(LOOKS)[:many] for many in range(2, len(LOOKS) + 1)]
    plans = [looks for looks in (*((look,) for look in LOOKS), *up_to) if length >= 4 * looks[-1]]
    found = [rates(pool, looks, not options.uncalibrated, options.seed) for looks in plans]
    print(table(found).to_string(index=False))
    if options.json:
        options.json.write_text(json.dumps([vars(one) for one in found], indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
