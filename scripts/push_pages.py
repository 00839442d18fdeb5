"""Commit pages to a branch of a repository, below a path, and push it. Nothing else there changes.

    .venv/bin/python -m scripts.push_pages html --repo ../project --to gh-pages:observatory

The files below the path are replaced by the pages; without a path, those of the whole branch are.
The branch is created if it does not exist. If others push at the same time, it is tried again.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from observatory.cli.guarded import guarded
from observatory.errors import ObservatoryError
from observatory.run.pages import push_pages


def main(argv: Sequence[str] | None = None) -> int:
    """Commit and push; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pages", type=Path, help="the directory of pages")
    parser.add_argument("--repo", type=Path, required=True, help="a clone of the repository")
    parser.add_argument("--to", required=True, metavar="BRANCH[:PATH]")
    parser.add_argument("--remote", default="origin")
    options = parser.parse_args(argv)
    branch, _, path = options.to.partition(":")
    try:
        print(push_pages(options.pages, options.repo, options.remote, branch, path))
    except ObservatoryError as error:
        print(error, file=sys.stderr)
        return int(error.exit_code)
    return 0


if __name__ == "__main__":
    with guarded():
        sys.exit(main())
