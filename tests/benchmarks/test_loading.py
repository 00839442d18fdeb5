"""Reading other projects' results against asv's own loading of them: whole processes, one run.

Three situations: from nothing (no cache; for asv, files as they were recorded), again, and with
one new file. Ours is measured twice: until all values are columns in memory, which is what asv's
graphs are, and until they are the tidy frame, which needs pandas besides. The sides take turns.
Printed are the medians, asv's time as a multiple, and the peak memory, which a small launcher asks
the kernel for. Nothing here asserts a time.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tarfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"
ROUNDS = 3
SITUATIONS = ("from nothing", "again", "one new file")
ASV = str(Path(__file__).with_name("asv_loading.py"))
COLUMNS = """
import sys
from pathlib import Path
from observatory.store.reading.read import read_results
print(len(read_results(Path(sys.argv[1]), Path(sys.argv[2])).values))
"""
FRAME = """
import sys
from pathlib import Path
from observatory.analyze.frame import frame
from observatory.store.reading.read import read_results
print(len(frame(read_results(Path(sys.argv[1]), Path(sys.argv[2])))))
"""
# The launcher is a process of its own, and small: a child's peak begins with its parent's size.
LAUNCHER = """
import json, os, sys, time
began = time.perf_counter()
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, used = os.wait4(child, 0)
print(json.dumps([status, time.perf_counter() - began, used.ru_maxrss]))
"""


@dataclass(frozen=True)
class Taken:
    """One process: wall time in seconds and peak resident memory in kB."""

    seconds: float
    peak: int


def taken(*command: str) -> tuple[Taken, int]:
    """Run a process to its end; also the number that it printed before."""
    variables = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    variables["PYTHONPATH"] = str(ROOT)
    done = subprocess.run(
        [sys.executable, "-S", "-c", LAUNCHER, sys.executable, "-W", "ignore", *command],
        env=variables, capture_output=True, text=True, check=True,
    )  # fmt: skip
    printed = done.stdout.splitlines()
    status, seconds, peak = json.loads(printed[-1])
    assert status == 0, done.stderr
    return Taken(seconds, peak), int(printed[-2].split()[-1])


class Side:
    """One tool with a copy of the results of its own."""

    def __init__(self, results: Path, scratch: Path, command: tuple[str, ...]) -> None:
        self.scratch = scratch
        self._results = scratch / "results"
        self._command = command
        shutil.copytree(results, self._results)
        self._left_out = max(self._results.glob("*/*-*.json"))
        self._content = self._left_out.read_bytes()
        self._left_out.unlink()
        (scratch / "work").mkdir()

    def add_one(self) -> None:
        """Put the file there that was left out until now, as it was recorded."""
        self._left_out.write_bytes(self._content)

    def run(self) -> tuple[Taken, int]:
        """Load everything in a process of its own."""
        return taken(*self._command, str(self._results), str(self.scratch / "work"))


SIDES = {"asv": (ASV,), "columns": ("-c", COLUMNS), "frame": ("-c", FRAME)}


def compared(results: Path, scratch: Path) -> dict[str, dict[str, list[Taken]]]:
    """For each situation and side what its processes took."""
    found: dict[str, dict[str, list[Taken]]] = defaultdict(lambda: defaultdict(list))
    values: dict[str, set[int]] = defaultdict(set)
    for number in range(ROUNDS):
        sides = {
            name: Side(results, scratch / name / str(number), command)
            for name, command in SIDES.items()
        }
        for situation in SITUATIONS:
            for name, side in sides.items():
                if situation == "one new file":
                    side.add_one()
                used, count = side.run()
                found[situation][name].append(used)
                values[situation + name].add(count)
        for side in sides.values():
            shutil.rmtree(side.scratch)
    assert all(len(counts) == 1 for counts in values.values()), "each reads the same each time"
    return found


def printed(found: dict[str, dict[str, list[Taken]]]) -> list[str]:
    """The figures as lines: medians, multiples of ours, peak memory."""
    lines = [f"{'':15}{'':8}{'time':>8}{'multiple':>10}{'peak':>9}"]
    for situation, sides in found.items():
        asv = statistics.median(one.seconds for one in sides["asv"])
        for name, used in sides.items():
            seconds = statistics.median(one.seconds for one in used)
            peak = max(one.peak for one in used) / 1024
            lines.append(
                f"{situation:15}{name:8}{seconds:6.2f} s{asv / seconds:9.1f}x{peak:6.0f} MB"
            )
    return lines


@pytest.mark.benchmark(group="loading against asv")
@pytest.mark.parametrize("name", ["numba-benchmark", "django-asv"])
def test_loading_against_asv(
    benchmark: BenchmarkFixture, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    archive = DATA / f"{name}.tar.xz"
    if not archive.is_file():
        pytest.skip(f"{archive.name} is not there")
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path, filter="data")
    (results,) = tmp_path.glob("*/results")
    found = benchmark.pedantic(compared, (results, tmp_path), rounds=1)  # type: ignore[no-untyped-call]
    with capsys.disabled():
        print(f"\n{name}: until every result is in memory, medians of {ROUNDS}")
        print("\n".join(printed(found)))
