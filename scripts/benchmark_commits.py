r"""Run a project's tests with pytest-benchmark for each commit since the last one with results.

    .venv/bin/python -m scripts.benchmark_commits --repo ../project --stored stored \
        --results shard --tests tests/benchmarks --install="-e . pytest pytest-benchmark"

Each commit is checked out beside --repo and installed into an environment of its own. Its results
are imported even if tests failed, and a commit that cannot be installed does not stop the next one.
With --budget, no commit takes the time of all others: it has half of what is left, the last one all
of it, and a commit that has not ended by then is ended.
Exit status 0 if every test of every commit passed, 3 if one failed, 4 if a commit has no results.
"""

from __future__ import annotations

import argparse
import math
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from observatory.cli.guarded import guarded
from observatory.cli.options import seconds
from observatory.errors import Exit, ObservatoryError, severest
from observatory.run.backlog import IMPORTED
from observatory.store.asv.imported import Options, import_file
from observatory.store.base.problems import RecordError
from observatory.text import units
from scripts.new_commits import chosen, parser_of, say

_UV = (sys.executable, "-m", "uv")
_PASSED = 0
"""The exit status of pytest if every test passed."""


def main(argv: Sequence[str] | None = None) -> int:
    """Measure the commits; returns the exit status."""
    parser = parser_of(__doc__ or "")
    add = parser.add_argument
    add("--results", type=Path, required=True, help="results directory to write")
    add("--tests", required=True, help="directory of the tests, in the project")
    add("--install", type=shlex.split, default="-e . pytest pytest-benchmark",
        help="arguments of pip install")  # fmt: skip
    add("--budget", type=seconds, default=math.inf,
        help="longest time for all commits together: 90s, 10m, 1h; default: no limit")  # fmt: skip
    add("--python", default=sys.executable, help="Python of the environments")
    options = parser.parse_args(argv)
    try:
        commits = chosen(options, IMPORTED).chosen
    except ObservatoryError as error:
        print(error, file=sys.stderr)
        return int(error.exit_code)
    return severest(_all_measured(commits, options))


def _all_measured(commits: Sequence[str], options: argparse.Namespace) -> Iterator[int]:
    """Measure the commits one after the other; yields the exit status for each."""
    until = time.monotonic() + options.budget
    for place, commit in enumerate(commits):
        # A slow suite must end, and one that hangs must leave time for the others.
        share = (until - time.monotonic()) / min(2, len(commits) - place)
        yield _measured(commit, options, share)


def _measured(commit: str, options: argparse.Namespace, share: float) -> int:
    """Measure one commit within ``share`` seconds and import its results; returns its status."""
    until = time.monotonic() + share
    with _scratch(options.repo) as place:
        saved, environment = Path(place, "saved.json"), Path(place, "environment")
        python = str(environment / "bin" / "python")
        tree = Path(place, "tree")  # the files of the clone stay as they are
        add = ["git", "worktree", "add", "--quiet", "--force", "--detach", str(tree), commit]
        steps = (
            (options.repo, add),
            (tree, [*_UV, "venv", "--quiet", "--python", options.python, str(environment)]),
            (tree, [*_UV, "pip", "install", "--quiet", "--python", python, *options.install]),
        )
        for where, step in steps:
            if (ended := _status(step, where, until)) != 0:
                how = f"did not end {_within(share)}" if ended is None else "failed"
                say(
                    options.summary,
                    f"{commit[:10]} was not measured: `{shlex.join(step[-6:])}` {how}.",
                )
                return int(Exit.ENVIRONMENT)
        tests = [python, "-m", "pytest", options.tests, "--benchmark-only"]
        status = _status([*tests, "--benchmark-json", str(saved)], tree, until)
        how = f"did not end {_within(share)}" if status is None else f"ended with status {status}"
        return _imported(commit, saved, status, f"pytest {how}", options)


@contextmanager
def _scratch(repo: Path) -> Iterator[str]:
    """A directory for a work tree of a clone, which forgets the tree at the end."""
    with tempfile.TemporaryDirectory(prefix="observatory-benchmarks-") as place:
        yield place
    subprocess.run(["git", "worktree", "prune"], cwd=repo, check=False)


def _within(share: float) -> str:
    return f"within {units.seconds(share)}, its share of the time"


def _status(command: Sequence[str], where: Path, until: float) -> int | None:
    """The exit status of a command; None if it had not ended by ``until`` and was ended.

    No process that it started stays, which would disturb the times of the next commit.
    """
    left = None if until == math.inf else max(until - time.monotonic(), 0)
    process = subprocess.Popen(command, cwd=where, start_new_session=True)
    try:
        return process.wait(left)
    except subprocess.TimeoutExpired:
        return None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _imported(
    commit: str, saved: Path, status: int | None, how: str, options: argparse.Namespace
) -> int:
    """Import what pytest has saved. ``how``: a sentence without its end that says how it ended."""
    if not saved.is_file() or not saved.stat().st_size:
        say(options.summary, f"{commit[:10]} has no results: {how}.")
        return int(Exit.ENVIRONMENT)
    try:
        done = import_file(saved, options.results, Options(options.machine, commit, None, ()))
    except RecordError as error:
        say(options.summary, f"{commit[:10]} has no results: {error}.")
        return int(Exit.ENVIRONMENT)
    text = f"{commit[:10]}: {done.benchmarks} benchmarks"
    if status == _PASSED:
        say(options.summary, f"{text}.")
        return int(Exit.OK)
    say(options.summary, f"{text}; others failed: {how}.")
    return int(Exit.SAMPLE_FAILED)


if __name__ == "__main__":
    with guarded():
        sys.exit(main())
