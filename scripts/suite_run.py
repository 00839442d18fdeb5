"""Run tests beside busy loops, or with more kills than usual, and keep what came of it.

    .venv/bin/python -m scripts.suite_run --loops 6 --json results/tables/suite_runs.jsonl
    .venv/bin/python -m scripts.suite_run --kills 20 tests/integration/test_kills.py

Without paths it runs all tests, in two workers. A busy loop is a process that computes until this
one ends, and has no lower priority than the tests. The exit status is that of pytest; a run that
was interrupted, or had no test, is not kept.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

from scripts.docs.rows import KEPT, add_option, keep, now
from scripts.docs.suite_tables import SuiteRun

ROOT = Path(__file__).parents[1]
_LOOP = """
import os, sys
while os.getppid() == int(sys.argv[1]):
    sum(range(10**5))
"""
_WHOLE = (0, 1)
"""Exit statuses of a run that came to its end: all tests passed, or some failed."""


@contextlib.contextmanager
def busy(loops: int) -> Iterator[None]:
    """Keep so many CPUs busy for as long as this lasts."""
    command = [sys.executable, "-c", _LOOP, str(os.getpid())]
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(loops)]
    try:
        yield
    finally:
        for one in running:
            one.kill()
            one.wait()


def counts(report: Path) -> Counter[str]:
    """How many tests of a report in JUnit's format passed, failed and were skipped.

    A test whose fixture ends with an error has failed. Raises OSError and ParseError.
    """
    found: dict[tuple[str | None, str | None], str] = {}
    for case in ElementTree.parse(report).iter("testcase"):  # noqa: S314  # pytest wrote it
        name = case.get("classname"), case.get("name")
        bad = case.find("failure") is not None or case.find("error") is not None
        outcome = "skipped" if case.find("skipped") is not None else "passed"
        found[name] = "failed" if bad or found.get(name) == "failed" else outcome
    return Counter(found.values())


def commit() -> str:
    """The commit of this checkout, with a plus sign if files differ from it."""
    git = ("git", "-C", str(ROOT))
    ask = ((*git, "rev-parse", "--short=12", "HEAD"),
           (*git, "status", "--porcelain", "--", ".", f":!{KEPT.relative_to(ROOT)}"))  # fmt: skip
    name, changed = (
        subprocess.run(one, check=True, capture_output=True, text=True).stdout.strip()
        for one in ask
    )
    return f"{name}+" if changed else name


def run(paths: Sequence[str], workers: int, loops: int, kills: int | None) -> tuple[SuiteRun, int]:
    """Run the tests below these paths; what came of it, and pytest's exit status."""
    of = commit()  # before: the checkout may move meanwhile
    with tempfile.TemporaryDirectory() as scratch, busy(loops):
        report = Path(scratch) / "report.xml"
        command = [sys.executable, "-m", "pytest", *paths, f"--junitxml={report}"]
        command += ["-n", str(workers), "--dist", "loadfile", "--no-loadscope-reorder"]
        variables = {} if kills is None else {"KILLS": str(kills)}
        began = time.monotonic()
        ended = subprocess.run(command, check=False, cwd=ROOT, env={**os.environ, **variables})
        seconds = time.monotonic() - began
        found = counts(report)
    row = SuiteRun(
        taken=now(), commit=of, paths=tuple(sorted(paths)), workers=workers, loops=loops,
        kills=kills, passed=found["passed"], failed=found["failed"], skipped=found["skipped"],
        seconds=round(seconds),
    )  # fmt: skip
    return row, ended.returncode


def main() -> int:
    """Run the tests, print what came of it, and keep it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("paths", nargs="*", metavar="PATH", help="of tests; all without one")
    parser.add_argument(
        "--workers", type=int, default=2, help="processes that run tests (default: 2)"
    )
    parser.add_argument("--loops", type=int, default=0, help="busy loops beside the tests")
    parser.add_argument("--kills", type=int, help="how often each command is killed, at most")
    add_option(parser)
    options = parser.parse_args()
    row, status = run(options.paths, options.workers, options.loops, options.kills)
    if status in _WHOLE:
        keep(options.json, row)
    print(row.model_dump_json())
    return status


if __name__ == "__main__":
    raise SystemExit(main())
