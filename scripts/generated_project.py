"""Results of a project that does not exist: 20,000 series, to see how pages bear their number.

    .venv/bin/python scripts/generated_project.py RESULTS [--subjects 60]

Writes result files of asv, with what `asv publish` needs beside them. The values are random (noise
of 2 %, fixed seed), and one series in fifty has a step of 20 %: nothing here was measured.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

BENCHMARKS, PARAMETERS = 100, 200
MACHINE, PYTHON = "ci", "3.12"
FIRST, DAY = 1_700_000_000_000, 86_400_000  # milliseconds


def written(results: Path, subjects: int) -> None:
    """Write the result files of all subjects, and the lists of benchmarks and machines."""
    rng = np.random.default_rng(1)
    series = BENCHMARKS * PARAMETERS
    values = np.exp(0.02 * rng.standard_normal((subjects, series)))
    for number in range(0, series, 50):
        values[rng.integers(subjects // 4, 3 * subjects // 4) :, number] *= 1.2
    params = [[repr(f"p{n}") for n in range(PARAMETERS)]]
    machine = {"machine": MACHINE, "python": PYTHON}
    (results / MACHINE).mkdir(parents=True)
    _write(results / MACHINE / "machine.json", {**machine, "version": 1})
    _write(results / "benchmarks.json", {f"time_{n}": _benchmark(n, params)
                                         for n in range(BENCHMARKS)} | {"version": 2})  # fmt: skip
    for number in range(subjects):
        pieces = np.round(values[number], 6).reshape(BENCHMARKS, PARAMETERS).tolist()
        content = {
            "commit_hash": f"{number:040x}", "env_name": f"virtualenv-py{PYTHON}",
            "date": FIRST + number * DAY, "params": machine, "python": PYTHON,
            "requirements": {}, "env_vars": {}, "result_columns": ["result", "params"],
            "results": {f"time_{n}": [piece, params] for n, piece in enumerate(pieces)},
            "durations": {}, "version": 2,
        }  # fmt: skip
        _write(results / MACHINE / f"{number:08x}-virtualenv-py{PYTHON}.json", content)


def _benchmark(number: int, params: list[list[str]]) -> dict[str, object]:
    return {
        "name": f"time_{number}", "params": params, "param_names": ["p"], "type": "time",
        "unit": "seconds", "version": "1", "code": "", "timeout": 60,
    }  # fmt: skip


def _write(path: Path, content: object) -> None:
    path.write_text(json.dumps(content))


def main() -> None:
    """Write the results into a directory that is not there yet."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--subjects", type=int, default=60)
    given = parser.parse_args()
    written(given.results, given.subjects)


if __name__ == "__main__":
    main()
