"""Results of a project that does not exist, of any size: to see how reading and pages bear it.

    python -m scripts.beside_asv.generated_project RESULTS [--series 20000] [--subjects 60]

Writes result files of asv with their statistics, with what `asv publish` needs beside them. The
series are shared out among the lines, which are machines with a benchmark suite of their own, so
there are as many files as lines times subjects. The values are random (noise of 2 %, fixed seed),
and one series in fifty has a step of 20 %: nothing here was measured.

A large collection, of 22,700 series in 1,400 files and 0.5 GB, is made by `--series 22700
--subjects 175 --lines 8`; `--without-last` leaves out the newest file, to add it later.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

PARAMETERS = 200
"""Parameters of one benchmark, at most."""
PYTHON = "3.12"
FIRST, DAY = 1_700_000_000_000, 86_400_000  # milliseconds
COLUMNS = (
    "result", "params", "version", "started_at", "duration", "stats_ci_99_a", "stats_ci_99_b",
    "stats_q_25", "stats_q_75", "stats_number", "stats_repeat",
)  # fmt: skip


def written(results: Path, series: int, subjects: int, lines: int, newest: bool = True) -> None:
    """Write the result files of all subjects, and the lists of benchmarks and machines.

    ``newest``: whether the last line has its last subject, too.
    """
    benchmarks: dict[str, Any] = {}
    for line in range(lines):
        machine = f"machine-{line}" if lines > 1 else "ci"
        own = list(_suite(line, range(line, series, lines)))
        benchmarks |= {name: _benchmark(name, params) for name, params in own}
        (results / machine).mkdir(parents=True)
        about = {"machine": machine, "python": PYTHON, "cpu": "a CPU", "os": "Linux 6.1"}
        _write(results / machine / "machine.json", {**about, "version": 1})
        values = _values(np.random.default_rng(line), subjects, sum(len(p) for _, p in own))
        for number in range(subjects - (not newest and line == lines - 1)):
            content = _file(about, number, own, values[number])
            _write(results / machine / f"{number:08x}-virtualenv-py{PYTHON}.json", content)
    _write(results / "benchmarks.json", benchmarks | {"version": 2})


def _suite(line: int, series: range) -> Any:
    """The benchmarks of a line: name and the words of the one parameter."""
    for number, first in enumerate(range(0, len(series), PARAMETERS)):
        words = [repr(f"p{n}") for n in range(min(PARAMETERS, len(series) - first))]
        yield f"module_{line}.Suite{number % 7}.time_{number}", words


def _values(rng: np.random.Generator, subjects: int, series: int) -> Any:
    values = 0.001 * np.exp(0.02 * rng.standard_normal((subjects, series)))
    values *= np.exp(2 * rng.standard_normal(series))
    for number in range(0, series, 50):
        values[rng.integers(subjects // 4, 3 * subjects // 4) :, number] *= 1.2
    return values


def _file(about: dict[str, str], number: int, own: list[Any], values: Any) -> dict[str, Any]:
    made, start = {}, 0
    for name, words in own:
        piece = values[start : start + len(words)]
        start += len(words)
        low, high, q_25, q_75 = (_short(piece * by) for by in (0.98, 1.03, 0.99, 1.01))
        made[name] = [
            _short(piece), [words], "1", FIRST + number * DAY, 12.5, low, high, q_25, q_75,
            [100] * len(words), [10] * len(words),
        ]  # fmt: skip
    return {
        "commit_hash": f"{number:08x}" * 5, "env_name": f"virtualenv-py{PYTHON}",
        "date": FIRST + number * DAY, "params": about, "python": PYTHON,
        "requirements": {}, "env_vars": {}, "result_columns": COLUMNS,
        "results": made, "durations": {}, "version": 2,
    }  # fmt: skip


def _short(values: Any) -> list[float]:
    """With twelve significant digits: real files have up to 17, and asv rounds some to five."""
    return [float(f"{value:.12g}") for value in values.tolist()]


def _benchmark(name: str, words: list[str]) -> dict[str, object]:
    return {
        "name": name, "params": [words], "param_names": ["p"], "type": "time",
        "unit": "seconds", "version": "1", "code": "", "timeout": 60,
    }  # fmt: skip


def _write(path: Path, content: object) -> None:
    path.write_text(json.dumps(content))


def main() -> None:
    """Write the results into a directory that is not there yet."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--series", type=int, default=20_000)
    parser.add_argument("--subjects", type=int, default=60)
    parser.add_argument("--lines", type=int, default=1)
    parser.add_argument("--without-last", action="store_true")
    given = parser.parse_args()
    written(given.results, given.series, given.subjects, given.lines, not given.without_last)


if __name__ == "__main__":
    main()
