r"""Run a project's tests with pytest-benchmark for each commit since the last one with results.

    .venv/bin/python -m scripts.benchmark_commits --repo ../project --stored stored \
        --results shard --tests tests/benchmarks --install="-e . pytest pytest-benchmark"

Each commit is checked out in --repo and installed into an environment of its own. Its results
are imported even if tests failed, and a commit that cannot be installed does not stop the next one.
Exit status 0 if every test of every commit passed, 3 if one failed, 4 if a commit has no results.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from observatory.cli.guarded import guarded
from observatory.errors import Exit, ObservatoryError
from observatory.run.backlog import IMPORTED
from observatory.run.git import Git
from observatory.store.asv.imported import Options, import_file
from observatory.store.base.problems import RecordError
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
    add("--install", default="-e . pytest pytest-benchmark", help="arguments of pip install")
    add("--python", default=sys.executable, help="Python of the environments")
    options = parser.parse_args(argv)
    try:
        commits = chosen(options, IMPORTED).chosen
    except ObservatoryError as error:
        print(error, file=sys.stderr)
        return int(error.exit_code)
    statuses = [_measured(commit, options) for commit in commits]
    return max(statuses, default=int(Exit.OK))


def _measured(commit: str, options: argparse.Namespace) -> int:
    """Measure one commit and import its results; returns the exit status for it."""
    Git(options.repo)  # says what is wrong with it
    with tempfile.TemporaryDirectory(prefix="observatory-benchmarks-") as place:
        saved, environment = Path(place, "saved.json"), Path(place, "environment")
        python = str(environment / "bin" / "python")
        steps = (
            ["git", "checkout", "--quiet", "--force", "--detach", commit],
            ["git", "clean", "--quiet", "--force", "-d", "-x"],
            [*_UV, "venv", "--quiet", "--python", options.python, str(environment)],
            [*_UV, "pip", "install", "--quiet", "--python", python, *shlex.split(options.install)],
        )
        for step in steps:
            if subprocess.run(step, cwd=options.repo, check=False).returncode != 0:
                say(
                    options.summary,
                    f"{commit[:10]} was not measured: `{shlex.join(step[-6:])}` failed.",
                )
                return int(Exit.ENVIRONMENT)
        tests = [python, "-m", "pytest", options.tests, "--benchmark-only"]
        status = subprocess.run(
            [*tests, "--benchmark-json", str(saved)], cwd=options.repo, check=False
        ).returncode
        return _imported(commit, saved, status, options)


def _imported(commit: str, saved: Path, status: int, options: argparse.Namespace) -> int:
    if not saved.is_file() or not saved.stat().st_size:
        say(options.summary, f"{commit[:10]} has no results: pytest ended with status {status}.")
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
    say(options.summary, f"{text}; others failed: pytest ended with status {status}.")
    return int(Exit.SAMPLE_FAILED)


if __name__ == "__main__":
    with guarded():
        sys.exit(main())
