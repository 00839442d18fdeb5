"""How far waits repeat: false alarms, and the waits that are found, on real samples.

    python -m scripts.accuracy.wait_rates FILE.parquet
    python -m scripts.accuracy.wait_rates idle=A.jsonl busy=B.jsonl disk=C.jsonl --keep FILE.parquet

`work_pool --only waiting_time` takes such a pool; the word before each file says what the machine
did meanwhile. All samples are of one subject, so that every alarm is false: each comparison draws
as many samples of one cell and one kind of machine for BASE as for HEAD, and judges them as
`compare` does. For the power, HEAD waits LONGER more in each sample.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import pandas as pd

from observatory.analyze.comparison.rules import conclude, rule_of
from observatory.benchmarks.catalogue import METRICS, Cell
from scripts.accuracy.work_rates import pools_of
from scripts.docs.markdown import table as table_of

SIDES = (5, 7, 10)
LONGER = 0.2
"""Seconds that are added to each wait of HEAD."""
COMPARISONS = 1000
MACHINES = ("idle", "busy", "disk")
_METRIC = METRICS["waiting_time"]
_AXES = [axis.name for axis in fields(Cell)]


@dataclass(frozen=True)
class WaitRates:
    """What the pool says of one cell on one kind of machine."""

    cell: Cell
    machine: str
    samples: int
    median: float
    longest: float
    """Seconds, as the median."""
    alarms: dict[int, int]
    """Samples a side -> worse or better in COMPARISONS of the subject with itself."""
    found: dict[int, float]
    """Samples a side -> share of the comparisons that called LONGER waits worse."""


def kept_pool(sources: list[str]) -> pd.DataFrame:
    """The samples of one kept file, or of WORD=FILE each, which get the word as `machine`.

    Raises SystemExit for a word that is none of MACHINES, and as `pools_of`.
    """
    if len(sources) == 1 and "=" not in sources[0]:
        return pd.read_parquet(sources[0])
    parts = []
    for word, _, path in (one.partition("=") for one in sources):
        if word not in MACHINES:
            raise SystemExit(f"{word!r} is none of {', '.join(MACHINES)}: write busy=FILE.jsonl")
        parts.append(pools_of([Path(path)]).assign(machine=word))
    samples = pd.concat(parts, ignore_index=True)
    if samples["metric"].ne(_METRIC.name).any() or samples["pytensor"].nunique() > 1:
        raise SystemExit(f"the samples of a pool are {_METRIC.name} of one subject")
    return samples


def rates_of(samples: pd.DataFrame, seed: int = 1) -> list[WaitRates]:
    """The rates of each cell and kind of machine."""
    return [
        _rates(Cell(*place[:-1]), place[-1], own["value"].to_numpy(dtype=float), seed)
        for place, own in samples.groupby([*_AXES, "machine"], sort=True)
    ]


def _rates(cell: Cell, machine: str, values: np.ndarray, seed: int) -> WaitRates:
    rng, rule = np.random.default_rng(seed), rule_of(_METRIC, cell.scenario)
    alarms, found = {}, {}
    for side in SIDES:
        drawn = rng.choice(values, (COMPARISONS, 2, side)).tolist()
        calm = [conclude(rule, base, head).conclusion for base, head in drawn]
        longer = [conclude(rule, base, [v + LONGER for v in head]) for base, head in drawn]
        alarms[side] = sum(one in ("worse", "better") for one in calm)
        found[side] = sum(one.conclusion == "worse" for one in longer) / COMPARISONS
    return WaitRates(
        cell, machine, len(values), float(np.median(values)), float(values.max()), alarms, found
    )


def table(found: list[WaitRates]) -> str:
    """The rates in Markdown, as docs/sample.md has them."""
    heads = [
        "cell", "machine", "samples", "median", "longest",
        *(f"alarms, {side} a side" for side in SIDES), *(f"+200 ms, {side}" for side in SIDES),
    ]  # fmt: skip
    rows = [
        [
            f"{one.cell.scenario} {one.cell.backend}", one.machine, f"{one.samples}",
            f"{1000 * one.median:.0f} ms", f"{1000 * one.longest:.0f} ms",
            *(f"{one.alarms[side]}" for side in SIDES),
            *(f"{one.found[side]:.1%}" for side in SIDES),
        ]
        for one in found
    ]  # fmt: skip
    return table_of(heads, rows)


def main() -> int:
    """Judge a pool and print its rates."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("pool", nargs="+", help="FILE.parquet, or idle=FILE.jsonl and so on")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="write the samples: FILE.parquet")
    options = parser.parse_args()
    samples = kept_pool(options.pool)
    if options.keep:
        samples.to_parquet(options.keep, index=False, compression="zstd")
    print(table(rates_of(samples, options.seed)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
