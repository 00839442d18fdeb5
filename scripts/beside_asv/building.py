"""What building pages costs, in turns with `asv publish`: CPU time and peak memory.

    .venv/bin/python -m scripts.beside_asv.building RESULTS... [--rounds 3]

Each RESULTS is a directory of asv results; it is copied, and stays as it is. Ours is built from
nothing, again without a change, and with one more file (the newest one of the last machine, which
was left out before); then `observatory alerts` looks at all that. asv is asked for all of its
pages, after its `update`, which is not counted; `--without-asv` leaves it out, as for sizes that it
takes hours for.
Printed are medians over rounds. CPU time is that of a process and of those that it started, so it
depends little on what else the machine does; memory is the peak of the largest of them.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
RESTED = 2.5
"""Seconds after which a file is trusted to be as it was."""


class Taken(NamedTuple):
    """CPU time in seconds, and peak memory in MB."""

    seconds: float
    peak: float


def taken(home: Path, *command: str) -> Taken:
    """Run a Python process to its end. Raises SystemExit if it fails."""
    variables = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    variables["XDG_CACHE_HOME"] = str(home / "cache")
    with subprocess.Popen(
        [sys.executable, *command], cwd=ROOT, env=variables,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit((process.stderr.read() if process.stderr else b"").decode())
    return Taken(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def compared(
    results: Path, rounds: int, home: Path, with_asv: bool = True
) -> dict[str, list[Taken]]:
    """What each side took in each situation."""
    ours, theirs = home / "ours", home / "asv"
    theirs.mkdir()
    shutil.copytree(results, ours)
    (ours / "alerts.json").unlink(missing_ok=True)
    left_out = max(ours.glob("*/*-*.json"))
    content = left_out.read_bytes()
    asv = "-m", "tests.benchmarks.asv_publishing"
    if with_asv:
        shutil.copytree(results, theirs / "results")
        taken(home, *asv, "update", str(theirs / "results"), str(theirs))
    found: dict[str, list[Taken]] = defaultdict(list)
    for _ in range(rounds):
        out = home / "html"
        for old in (home / "cache", out):
            shutil.rmtree(old, ignore_errors=True)
        left_out.unlink()
        build = "-m", "observatory", "dashboard", "--results", str(ours), "--out", str(out)
        for situation in ("from nothing", "unchanged", "one new file"):
            if situation == "one new file":
                left_out.write_bytes(content)
            found[situation].append(taken(home, *build))
            time.sleep(RESTED)
        looked = "-m", "observatory", "alerts", "--results", str(ours)
        found["alerts"].append(taken(home, *looked))
        (ours / "alerts.json").unlink(missing_ok=True)
        if with_asv:
            publish = "publish", str(theirs / "results"), str(theirs)
            found["asv publish"].append(taken(home, *asv, *publish))
    return found


def main() -> None:
    """Print a table for each collection."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("results", type=Path, nargs="+")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--without-asv", action="store_true")
    given = parser.parse_args()
    for results in given.results:
        with tempfile.TemporaryDirectory() as home:
            found = compared(results.resolve(), given.rounds, Path(home), not given.without_asv)
        theirs = [one.seconds for one in found.get("asv publish", ())]
        asv = statistics.median(theirs) if theirs else float("nan")
        print(f"{results}: medians of {given.rounds}")
        for situation, each in found.items():
            seconds = statistics.median(one.seconds for one in each)
            peak = statistics.median(one.peak for one in each)
            print(f"  {situation:14} {seconds:7.2f} s {peak:6.0f} MB {asv / seconds:6.1f} times")


if __name__ == "__main__":
    main()
