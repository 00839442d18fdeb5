"""Run tests beside busy loops, or with more kills than usual, and keep what came of it.

    .venv/bin/python -m scripts.suite_run --loops 6 --json results/tables/suite_runs.jsonl
    .venv/bin/python -m scripts.suite_run --kills 20 tests/integration/test_kills.py

Without paths it runs all tests, in two workers. A busy loop is a process that computes without an
end and has no lower priority than the tests. The exit status is that of pytest.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

from scripts.docs.rows import add_option, keep, now
from scripts.docs.suite_tables import SuiteRun

ROOT = Path(__file__).parents[1]
COUNTED = ("tests", "failures", "errors", "skipped")
_LOOP = (sys.executable, "-c", "while True: pass")


@contextlib.contextmanager
def busy(loops: int) -> Iterator[None]:
    """Keep so many CPUs busy for as long as this lasts."""
    running = [subprocess.Popen(_LOOP) for _ in range(loops)]
    try:
        yield
    finally:
        for one in running:
            one.kill()
            one.wait()


def counts(report: Path) -> dict[str, int]:
    """The sums of a report in JUnit's format. Raises OSError and ParseError."""
    suites = [*ElementTree.parse(report).iter("testsuite")]  # noqa: S314  # pytest wrote it
    return {key: sum(int(one.get(key, 0)) for one in suites) for key in COUNTED}


def commit() -> str:
    """The commit of this checkout, with a plus sign if files differ from it."""
    ask = ("git", "-C", str(ROOT), "describe", "--always", "--dirty=+", "--abbrev=12")
    return subprocess.run(ask, check=True, capture_output=True, text=True).stdout.strip()


def run(paths: Sequence[str], workers: int, loops: int, kills: int | None) -> tuple[SuiteRun, int]:
    """Run the tests below these paths; what came of it, and pytest's exit status."""
    with tempfile.TemporaryDirectory() as scratch, busy(loops):
        report = Path(scratch) / "report.xml"
        command = [sys.executable, "-m", "pytest", *paths, f"--junitxml={report}"]
        command += ["-n", str(workers), "--dist", "loadfile", "--no-loadscope-reorder"]
        variables = {} if kills is None else {"KILLS": str(kills)}
        began = time.monotonic()
        ended = subprocess.run(command, check=False, cwd=ROOT, env={**os.environ, **variables})
        seconds = time.monotonic() - began
        found = counts(report)
    failed = found["failures"] + found["errors"]
    row = SuiteRun(
        taken=now(), commit=commit(), paths=tuple(paths), workers=workers, loops=loops,
        kills=kills, passed=found["tests"] - failed - found["skipped"], failed=failed,
        skipped=found["skipped"], seconds=round(seconds),
    )  # fmt: skip
    return row, ended.returncode


def main() -> int:
    """Run the tests, print what came of it, and keep it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("paths", nargs="*", metavar="PATH", help="of tests; all without one")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--loops", type=int, default=0, help="busy loops beside the tests")
    parser.add_argument("--kills", type=int, help="how often each command is killed")
    add_option(parser)
    options = parser.parse_args()
    row, status = run(options.paths, options.workers, options.loops, options.kills)
    keep(options.json, row)
    print(row.model_dump_json())
    return status


if __name__ == "__main__":
    raise SystemExit(main())
