"""What the counting probes cost: compile_time with and without them, in interleaved pairs.

    .venv/bin/python scripts/probe_effect.py [--pairs 30] [--backend NUMBA] [--scenario cold]

Prints the ratio with/without of each cell: the median of the pairs' ratios, with a bootstrap
interval (95 %, percentile; Efron & Tibshirani 1993). The timing pass installs no probe, so this is
what it would cost to take times and counters from one sample.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from rich.progress import track
from scipy.stats import bootstrap

from observatory.run.environments import Environment
from observatory.run.here import STATE, environment_of, subjects_here


def compile_time(where: Environment, *options: str) -> float:
    """One timed sample, in seconds."""
    command = where.command("benchmarks.sample", *options)
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env=where.variables()
    )
    return float(json.loads(done.stdout)["metrics"]["compile_time"])


def ratios(where: Environment, cell: list[str], pairs: int, scratch: Path) -> np.ndarray:
    """With/without, one ratio a pair; which of a pair comes first alternates (A B B A)."""
    kept = ["--cache", str(scratch / "kept")] if "warm" in " ".join(cell) else []
    if kept:
        filler = ["--scenario", "cold", *cell[2:], "--keep-cache", kept[1]]
        compile_time(where, *filler)
    found = []
    for number in track(range(pairs), description=" ".join(cell[1::2])):
        order = ([], ["--probes"]) if number % 2 else (["--probes"], [])
        times = {bool(probes): compile_time(where, *cell, *kept, *probes) for probes in order}
        found.append(times[True] / times[False])
    return np.array(found)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--subject", default="newest")
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--backend", action="append", default=[])
    parser.add_argument("--scenario", action="append", default=[])
    options = parser.parse_args()
    subjects = subjects_here(STATE)
    where = environment_of(subjects.parse(options.subject), subjects, STATE)
    for scenario in options.scenario or ["warm_process"]:
        for backend in options.backend or ["C", "NUMBA"]:
            cell = ["--scenario", scenario, "--backend", backend, "--launch", "fork"]
            with tempfile.TemporaryDirectory(prefix="observatory-probes-") as scratch:
                found = ratios(where, cell, options.pairs, Path(scratch))
            interval = bootstrap((found,), np.median, method="percentile", rng=1)
            low, high = interval.confidence_interval
            print(
                f"{scenario} {backend}: compile_time with probes is {np.median(found):.3f} times "
                f"that without (95 % interval {low:.3f} to {high:.3f}, {options.pairs} pairs)"
            )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
