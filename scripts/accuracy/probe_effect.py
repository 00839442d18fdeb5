"""The cost of the counting probes: compile_time with and without them, in interleaved pairs.

    .venv/bin/python -m scripts.accuracy.probe_effect [--pairs 500] [--backend NUMBA] [--json FILE]

Prints the ratio with/without of each backend: the geometric mean of the pairs' ratios, with a
bootstrap interval (95 %, percentile; Efron & Tibshirani 1993); and the exact number of additional
Python functions that a build enters. The timing pass installs no probe; the ratio is the cost of
taking times and counters from one sample. `benchmarks/probe_cost.py` takes the pairs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from pathlib import Path

import numpy as np
from rich.progress import track
from scipy.stats import bootstrap

from observatory.run.environments import Environment
from observatory.run.local import STATE, environment_of, local_subjects


def pairs_of(where: Environment, backend: str, pairs: int, *options: str) -> np.ndarray:
    """Seconds (with --calls: calls) without and with probes, a row for each pair.

    Raises subprocess.CalledProcessError if the process fails.
    """
    asked = ("--backend", backend, "--pairs", str(pairs), *options)
    command = where.command("benchmarks.probe_cost", *asked)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=where.variables()) as run:
        assert run.stdout is not None
        found = [json.loads(line) for line in track(run.stdout, backend, pairs)]
    if run.returncode:
        raise subprocess.CalledProcessError(run.returncode, command)
    return np.array([(pair["without"], pair["with"]) for pair in found])


def main() -> int:
    """Measure every backend and print its ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--subject", default="newest")
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--backend", action="append", default=[])
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the seconds of every pair")
    options = parser.parse_args()
    subjects = local_subjects(STATE)
    where = environment_of(subjects.parse(options.subject), subjects, STATE)
    kept = {}
    for backend in options.backend or ["C", "C_VM", "NUMBA"]:
        (calls,) = pairs_of(where, backend, 1, "--calls")
        print(
            f"{backend}: {calls[1] - calls[0]:.0f} more Python functions entered, of {calls[0]:.0f}"
        )
        found = pairs_of(where, backend, options.pairs)
        kept[backend] = found.tolist()
        ratios = np.log(found[:, 1] / found[:, 0])
        interval = bootstrap((ratios,), np.mean, method="percentile", rng=1)
        low, high = np.exp(interval.confidence_interval)
        print(
            f"{backend}: compile_time with probes is {np.exp(ratios.mean()):.4f} times that "
            f"without (95 % interval {low:.4f} to {high:.4f}, {len(found)} pairs)"
        )
    if options.json is not None:
        options.json.write_text(json.dumps(kept))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
