"""Print the commits of a branch since the last one with results, the oldest first.

    .venv/bin/python -m scripts.new_commits --repo ../project --stored results --kind asv

Each line is a hash. Commits that are left out, because there are more than --most, are named on
stderr and in --summary. Exit status 2 if the repository has no such branch.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from observatory.cli.guarded import guarded
from observatory.cli.output import append_summary
from observatory.errors import ObservatoryError
from observatory.run.backlog import KINDS, Backlog, backlog, measured_commits


def main(argv: Sequence[str] | None = None) -> int:
    """Print the commits; returns the exit status."""
    parser = parser_of(__doc__ or "")
    parser.add_argument("--kind", choices=KINDS, default=KINDS[0], help="whose results count")
    options = parser.parse_args(argv)
    try:
        found = chosen(options, options.kind)
    except ObservatoryError as error:
        print(error, file=sys.stderr)
        return int(error.exit_code)
    for commit in found.chosen:
        print(commit)
    return 0


def parser_of(description: str) -> argparse.ArgumentParser:
    """The options that choose commits."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--repo", type=Path, required=True, help="the clone")
    add("--branch", default="HEAD", help="default: HEAD, what is checked out")
    add(
        "--stored",
        type=Path,
        required=True,
        help="results directory of the commits measured so far",
    )
    add("--most", type=int, default=10,
        help="largest number of commits; of more, evenly spaced ones; default: 10")  # fmt: skip
    add("--machine", help="machine whose results count; default: all")
    add("--summary", type=Path, help="append what is left out here: $GITHUB_STEP_SUMMARY")
    return parser


def chosen(options: argparse.Namespace, kind: str) -> Backlog:
    """What to measure, which stderr and the summary say as well. Raises SubjectError."""
    measured = measured_commits(options.stored, kind, options.machine)
    found = backlog(options.repo, options.branch, measured, options.most)
    say(options.summary, " ".join(found.sentences()))
    return found


def say(summary: Path | None, text: str) -> None:
    """Say a sentence on stderr and in the summary."""
    print(text, file=sys.stderr, flush=True)
    if summary is not None:
        append_summary(summary, f"{text}\n\n")


if __name__ == "__main__":
    with guarded():
        sys.exit(main())
