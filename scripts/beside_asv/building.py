"""What building pages costs, in turns with `asv publish`: CPU time and peak memory.

    python -m scripts.beside_asv.building [NAME=]RESULTS... [--rounds 3] [--json FILE]

Each RESULTS is a directory of asv results; it is copied, and stays as it is. NAME is what the table
calls it. Ours is built from nothing, again without a change, and with one more file (the newest one
of the last machine, which was left out before); then `observatory alerts` looks at all that. asv is
asked for all of its pages, after its `update`, which is not counted; `--without-asv` leaves it out,
as for sizes that it takes hours for. `--one-cpu` keeps all processes on one CPU, to see with which
power of a size the time grows: a larger collection is built in several processes, and two that
share a core may each take more CPU time.
Printed are medians over rounds. CPU time is that of a process and of those that it started, so it
depends little on what else the machine does; memory is the peak of the largest of them.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import numpy as np
import orjson

from observatory.store.reading.read import read_results
from scripts.beside_asv.tables import (
    ALERTS,
    ASV,
    NOTHING,
    ONE_MORE,
    UNCHANGED,
    Built,
    building,
    sizes,
)
from scripts.docs.rows import add_option, keep, now

ROOT = Path(__file__).resolve().parents[2]
_STARTER = """
import os, sys
null = os.open(os.devnull, os.O_WRONLY)
started = os.posix_spawn(
    sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, null, 1)]
)
_, status, used = os.wait4(started, 0)
print(used.ru_utime + used.ru_stime, used.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""
"""A program that starts a command and prints its CPU time, in s, and peak memory, in KiB."""
RESTED = 2.5
"""Seconds after which a file is trusted to be as it was."""


class Cost(NamedTuple):
    """CPU time in seconds, and peak memory in MB."""

    seconds: float
    peak: float


def size_of(results: Path) -> dict[str, float]:
    """How large a collection is, as the fields of `Built` say it."""
    found = read_results(results)
    series = sum(
        len(np.unique(np.stack([part.columns.series, part.columns.position]), axis=1).T)
        for part in found.parts
    )
    megabytes = sum(one.path.stat().st_size for one in found.files) / 1e6
    return {
        "series": series, "files": len(found.files), "values": len(found.values),
        "megabytes": megabytes,
    }  # fmt: skip


def child_variables(home: Path) -> dict[str, str]:
    """The environment of a process that keeps what it remembers in ``home``."""
    variables = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return variables | {"XDG_CACHE_HOME": str(home / "cache")}


def taken(home: Path, *command: str) -> Cost:
    """Run a Python process to its end. Raises SystemExit if it fails."""
    # A small process starts it: Linux counts the memory of the starting process as its own.
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _STARTER, sys.executable, *command], cwd=ROOT,
        env=child_variables(home), capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(done.stderr)
    seconds, kibibytes = map(float, done.stdout.split())
    return Cost(seconds, kibibytes * 1024 / 1e6)


def newest_file(directory: Path) -> Path:
    """The result file below a directory whose commit is the newest."""
    return max(directory.rglob("*-*.json"), key=lambda one: orjson.loads(one.read_bytes())["date"])


def compared(
    results: Path, rounds: int, home: Path, with_asv: bool = True
) -> dict[str, list[Cost]]:
    """What each side took in each situation."""
    ours, theirs = home / "ours", home / "asv"
    theirs.mkdir()
    shutil.copytree(results, ours)
    (ours / "alerts.json").unlink(missing_ok=True)
    left_out = newest_file(ours)
    content = left_out.read_bytes()
    asv = "-m", "tests.benchmarks.asv_publishing"
    if with_asv:
        shutil.copytree(results, theirs / "results")
        taken(home, *asv, "update", str(theirs / "results"), str(theirs))
    found: dict[str, list[Cost]] = defaultdict(list)
    for _ in range(rounds):
        out = home / "html"
        for old in (home / "cache", out):
            shutil.rmtree(old, ignore_errors=True)
        left_out.unlink()
        build = "-m", "observatory", "dashboard", "--results", str(ours), "--out", str(out)
        for situation in (NOTHING, UNCHANGED, ONE_MORE):
            if situation == ONE_MORE:
                left_out.write_bytes(content)
            found[situation].append(taken(home, *build))
            time.sleep(RESTED)
        looked = "-m", "observatory", "alerts", "--results", str(ours)
        found[ALERTS].append(taken(home, *looked))
        (ours / "alerts.json").unlink(missing_ok=True)
        if with_asv:
            publish = "publish", str(theirs / "results"), str(theirs)
            found[ASV].append(taken(home, *asv, *publish))
    return found


def main() -> None:
    """Print the tables of all collections."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("results", nargs="+", metavar="[NAME=]RESULTS")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--without-asv", action="store_true")
    parser.add_argument("--one-cpu", action="store_true")
    add_option(parser)
    given = parser.parse_args()
    if given.one_cpu:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    rows = []
    for text in given.results:
        name, _, path = text.rpartition("=")
        results = Path(path)
        with tempfile.TemporaryDirectory() as home:
            found = compared(results.resolve(), given.rounds, Path(home), not given.without_asv)
        size, when = size_of(results), now()
        for situation, each in found.items():
            for number, cost in enumerate(each, 1):
                row = Built(
                    taken=when, collection=name or path, situation=situation, round=number,
                    one_cpu=given.one_cpu, **size, **cost._asdict(),
                )  # fmt: skip
                keep(given.json, row)
                rows.append(row)
    print(*building(rows), *sizes(rows), sep="\n\n")


if __name__ == "__main__":
    main()
