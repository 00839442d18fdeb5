"""How far counts of work repeat: false alarms, and the steps that are found, on real samples.

    python -m scripts.accuracy.work_rates FILE.parquet NEW.jsonl --keep FILE.parquet
    python -m scripts.accuracy.work_rates FILE.parquet
    python -m scripts.accuracy.work_rates FILE.parquet --into results/calibrations/MACHINE.json

`work_pool` takes such a pool. Several files are one pool: new samples are added to those that were
kept. A second table has the rates of an idle and of a busy machine apart.

All samples of a pool are of one subject, so that every alarm is false. Counts of a cell that two
sources gave, or that leave out other things, are judged apart. A comparison draws samples
of a cell for BASE and as many for HEAD, each from all of them: if few samples were dealt out, rare
ones could never come together on one side. It takes one a side, then three, then five, until it
needs no more, as `compare` does (of `python_calls` two); or three in any case. The sides need not
have the same hash seeds, as they have in `compare`: two subjects differ by as much as two seeds do.
For the power, HEAD is multiplied by a known factor. The rules and their floors are those of
`compare` on a machine that is not calibrated, or with `--learn`, of one that was calibrated with
the first samples of each cell: only the others are compared. With `--into`, the noise of all
samples becomes part of the calibration of their machine.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import pandas as pd

from observatory.analyze.comparison.noise_floors import noise_floor
from observatory.analyze.comparison.rules import (
    COUNTED,
    Noise,
    Rule,
    conclude,
    rule_of,
    wants_more,
)
from observatory.benchmarks.catalogue import METRICS, WITHOUT_SEARCH, Cell
from observatory.run.interleave import TRACED, WORKED
from observatory.store.base.record import save_record
from observatory.store.records.calibration import FILES, Calibration, Floor
from scripts.docs.markdown import table as table_of

STEPS = (1.002, 1.005, 1.01, 1.02)
USUAL = 1.005
_LARGEST_BY_LOAD = 1.01
"""Of the STEPS, the largest that the table of idle and busy machines has."""
COMPARISONS = 1000
MACHINES = {"idle": (0.0, 2.5), "busy": (5.0, float("inf"))}
"""What a machine is called at which load average when a sample began: from, and below."""
_OF_ONE_SUBJECT = ["pytensor", "numba", "python"]
_AXES = [axis.name for axis in fields(Cell)]
_SERIES = [*_AXES, "metric", "source"]


@dataclass(frozen=True)
class Rates:
    """What the pool says of one metric of one cell; all numbers but the counts are relative."""

    cell: Cell
    metric: str
    source: str | None
    samples: int
    seeds: int
    """Different hash seeds among the samples."""
    variation: float
    """The standard deviation over the mean."""
    spread: float
    """The largest over the smallest value, less 1."""
    load: tuple[float, float]
    """The lowest and the highest load average at which a sample began."""
    alarms: int
    """In COMPARISONS of the subject with itself: worse or better."""
    found: dict[float, float]
    """Step -> share of the comparisons that called HEAD worse."""
    alarms_by_three: int
    """The same of comparisons of three samples a side."""
    found_by_three: dict[float, float]

    @property
    def name(self) -> str:
        """What a table calls the cell."""
        searched = WITHOUT_SEARCH if (self.source or "").endswith(WITHOUT_SEARCH) else ""
        return f"{self.cell.scenario} {self.cell.backend}{searched}"


def pool_of(path: Path) -> pd.DataFrame:
    """The samples of a pool, one a row, in the order taken. Raises SystemExit for a bad one."""
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    samples = pd.DataFrame(map(json.loads, path.read_text().splitlines()))
    if not samples["status"].eq("ok").all():
        raise SystemExit(f"{path} has samples that failed: a pool without them would be too good")
    counted = samples["metric"].ne("waiting_time").all()
    return samples.drop(columns="status").astype({"value": "int64" if counted else "float64"})


def pools_of(paths: Sequence[Path]) -> pd.DataFrame:
    """The samples of several files as one pool, each sample once. Raises SystemExit as `pool_of`.

    A sample is known by its cell, metric, hash seed and beginning.
    """
    samples = pd.concat([pool_of(path) for path in paths], ignore_index=True)
    for fact in samples.columns.intersection(_OF_ONE_SUBJECT):
        if samples[fact].nunique() > 1:
            of = ", ".join(map(str, samples[fact].unique()))
            raise SystemExit(f"the samples of a pool are of one subject, not of {fact} {of}")
    return samples.drop_duplicates([*_AXES, "metric", "hash_seed", "started_at"], ignore_index=True)


def rates_by_load(samples: pd.DataFrame, seed: int = 1) -> dict[str, list[Rates]]:
    """The rates of the samples that each of MACHINES took."""
    return {
        name: rates_of(samples[(samples["load"] >= low) & (samples["load"] < high)], seed)
        for name, (low, high) in MACHINES.items()
    }


def rates_of(samples: pd.DataFrame, seed: int = 1, learn: int = 0) -> list[Rates]:
    """The rates of each cell, metric and source of a pool; ``learn``: samples to calibrate with.

    One of which there is a single sample has none.
    """
    return [
        _rates(Cell(*place), metric, own, np.random.default_rng(seed), learn)
        for (*place, metric, _), own in samples.groupby(_SERIES, sort=True, dropna=False)
        if len(own) > 1
    ]


def _rates(
    cell: Cell, metric: str, own: pd.DataFrame, rng: np.random.Generator, learn: int
) -> Rates:
    source, fewest = _source(own), learn and learn + 2
    if len(own) < fewest or 0 < learn < 2 * COUNTED:
        raise SystemExit(
            f"{cell} {metric}: --learn needs at least {2 * COUNTED} samples of each cell, and two "
            f"that are left to be compared; it has {len(own)}"
        )
    known, values = np.split(own["value"].to_numpy(dtype=float), [learn])
    change = noise_floor(known, rng, COUNTED, drifts=False) if learn else 0.0
    noise = Noise(change, learn, source) if learn else None
    rule = rule_of(METRICS[metric], cell.scenario, noise, source)
    usual = WORKED if METRICS[metric].measure == "work" else (TRACED,)
    drawn = rng.choice(values, (COMPARISONS, 2, WORKED[-1])).tolist()

    def conclusions(step: float, looks: Sequence[int] = usual) -> list[str]:
        return [concluded(rule, base, [v * step for v in head], looks) for base, head in drawn]

    return Rates(
        cell, metric, source, len(values), own["hash_seed"].iloc[learn:].nunique(),
        variation=float(values.std(ddof=1) / values.mean()),
        spread=float(values.max() / values.min() - 1),
        load=(float(own["load"].iloc[learn:].min()), float(own["load"].iloc[learn:].max())),
        alarms=_alarms(conclusions(1.0)),
        found={step: conclusions(step).count("worse") / COMPARISONS for step in STEPS},
        alarms_by_three=_alarms(conclusions(1.0, [3])),
        found_by_three={
            step: conclusions(step, [3]).count("worse") / COMPARISONS for step in STEPS
        },
    )  # fmt: skip


def concluded(
    rule: Rule, base: Sequence[float], head: Sequence[float], looks: Sequence[int]
) -> str:
    """The conclusion from the first samples of each side, after the look that needs no more."""
    enough = (n for n in looks if not wants_more(rule, base[:n], head[:n]))
    taken = next(enough, looks[-1])
    return conclude(rule, base[:taken], head[:taken]).conclusion


def _alarms(conclusions: Sequence[str]) -> int:
    return sum(one in ("worse", "better") for one in conclusions)


def with_noise(samples: pd.DataFrame, path: Path) -> Calibration:
    """A calibration with the noise of a pool in place of what it had of these cells and metrics.

    Where the pool has counts of several sources, those of the newest remain.
    """
    known = FILES.load(path)
    if known is None or {known.machine.cpu} != set(samples["cpu"]):
        raise SystemExit(f"{path} is no calibration with the CPU of the pool")
    found = {}
    for (*place, metric), all_sources in samples.groupby([*_AXES, "metric"], sort=True):
        own = _of_the_newest_source(all_sources)
        change = noise_floor(own["value"].tolist(), np.random.default_rng(0), COUNTED, drifts=False)
        cell = Cell(*place)
        found[cell, metric] = Floor(
            cell=cell, metric=metric, kind="near_exact", samples=len(own),
            change=round(change, 6), source=_source(own),
        )  # fmt: skip
    kept = [one for one in known.floors if (one.cell, one.metric) not in found]
    return known.model_copy(update={"floors": [*kept, *found.values()]})


def _of_the_newest_source(own: pd.DataFrame) -> pd.DataFrame:
    sources = [one for _, one in own.groupby("source", dropna=False)]
    return max(sources, key=lambda one: one["started_at"].max())


def _source(own: pd.DataFrame) -> str | None:
    return None if own["source"].isna().all() else own["source"].iloc[0]


def table(found: list[Rates]) -> str:
    """The rates in Markdown, as docs/explanation/counts-repeat.md has them."""
    steps = [f"+{step - 1:.1%} found" for step in STEPS]
    heads = [
        "cell", "metric", "samples", "seeds", "variation", "range", "load",
        f"alarms in {COMPARISONS:,}", *steps,
        "by three: alarms", f"by three: +{USUAL - 1:.1%} found",
    ]  # fmt: skip
    rows = [
        [
            one.name, f"`{one.metric}`", f"{one.samples}", f"{one.seeds}",
            f"{one.variation:.3%}", f"{one.spread:.3%}",
            "{:.0f} to {:.0f}".format(*one.load), f"{one.alarms}",
            *(f"{share:.1%}" for share in one.found.values()),
            f"{one.alarms_by_three}", f"{one.found_by_three[USUAL]:.1%}",
        ]
        for one in found
    ]  # fmt: skip
    return table_of(heads, rows)


def table_by_load(found: dict[str, list[Rates]]) -> str:
    """The rates of each machine in Markdown, cell by cell."""
    steps = [step for step in STEPS if step <= _LARGEST_BY_LOAD]
    shares = [f"+{step - 1:.1%} found" for step in steps]
    heads = [
        "cell", "metric", "machine", "samples", "variation", "range",
        f"alarms in {COMPARISONS:,}", *shares, "by three: alarms",
        *(f"by three: {share}" for share in shares),
    ]  # fmt: skip
    rows = [
        [
            one.name, f"`{one.metric}`", name, f"{one.samples}",
            f"{one.variation:.3%}", f"{one.spread:.3%}", f"{one.alarms}",
            *(f"{one.found[step]:.1%}" for step in steps),
            f"{one.alarms_by_three}", *(f"{one.found_by_three[step]:.1%}" for step in steps),
        ]
        for name, rates in found.items()
        for one in rates
    ]  # fmt: skip
    return table_of(heads, sorted(rows, key=lambda row: row[:2]))


def main() -> int:
    """Judge a pool and print its rates."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "pool", type=Path, nargs="+", help="a file of work_pool.py or of --keep; several are one"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--learn", type=int, default=0, metavar="N",
                        help="learn the noise from the first N samples of each cell")  # fmt: skip
    parser.add_argument(
        "--into",
        type=Path,
        metavar="CALIBRATION",
        help="write the noise of the pool into this calibration of its machine",
    )
    parser.add_argument("--keep", type=Path, help="write the samples: FILE.parquet")
    options = parser.parse_args()
    samples = pools_of(options.pool)
    if options.into:
        save_record(options.into, with_noise(samples, options.into))
    if options.keep:
        samples.to_parquet(options.keep, index=False, compression="zstd")
    print(table(rates_of(samples, options.seed, options.learn)))
    if not options.learn:
        print()
        print(table_by_load(rates_by_load(samples, options.seed)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
