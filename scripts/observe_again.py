r"""Answer a comment that begins with /observe: run the comparison of a pull request again.

    GITHUB_TOKEN=... .venv/bin/python scripts/observe_again.py --repo OWNER/NAME --pull 1234 \
        --who ada --workflow observatory.yml

Everybody who may write to the repository may ask. The script reruns the newest run of the workflow
for the newest commit. So the measurement has no permissions, as for any pull request, and its
result belongs to that commit. Nothing of the pull request is checked out here.

Exit status 0: it is running; 1: the person may not ask, or there is no run; 13: a request to GitHub
failed.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence

from observatory.errors import Exit
from observatory.github.artifact import RefusedError
from observatory.github.client import GitHub
from observatory.github.http import GitHubError
from observatory.github.transport import Clock, Transport

_WRITERS = ("admin", "maintain", "write")
_PATTERNS = {
    "repo": re.compile(r"[\w.-]{1,100}/[\w.-]{1,100}"),
    "who": re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}(\[bot\])?"),
    "workflow": re.compile(r"[\w.-]{1,100}\.ya?ml"),
}


def main(argv: Sequence[str] | None = None, transport: Transport | None = None) -> int:
    """Do what the comment asks for; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--repo", default=os.environ.get("GITHUB_REPOSITORY", ""), help="OWNER/NAME")
    add("--pull", type=int, required=True, help="number of the pull request")
    add("--who", required=True, help="login of the person who commented")
    add("--comment", type=int, help="id of the comment, which gets the reaction eyes")
    add("--workflow", default="observatory.yml", help="file of the workflow that compares")
    add("--api", default=os.environ.get("GITHUB_API_URL", "https://api.github.com"))
    options = parser.parse_args(argv)
    for name, pattern in _PATTERNS.items():
        if not pattern.fullmatch(value := getattr(options, name)):
            parser.error(f"--{name} {value!r:.100} is not valid")
    try:
        token = os.environ.get("GITHUB_TOKEN", "")
        github = GitHub(transport or Transport(options.api, token, Clock()), options.repo)
        print(run_again(github, options))
    except (RefusedError, GitHubError) as error:
        print(f"not measured: {error}", file=sys.stderr)
        return Exit.GITHUB if isinstance(error, GitHubError) else Exit.UNEXPECTED
    return Exit.OK


def run_again(github: GitHub, options: argparse.Namespace) -> str:
    """Run the comparison again; returns what was done. Raises RefusedError and GitHubError."""
    if github.permission(options.who) not in _WRITERS:
        raise RefusedError(f"{options.who} may not write to {options.repo}")
    sha = github.pull(options.pull).head.sha
    runs = github.runs(options.workflow, sha)
    if not runs:
        raise RefusedError(
            f"{options.workflow} has no run for commit {sha[:10]}; add the label to the pull "
            "request instead, or push to it"
        )
    newest = max(runs, key=lambda run: run.id)
    if newest.status != "completed":
        return f"run {newest.id} of commit {sha[:10]} is already under way"
    github.run_again(newest.id)
    if options.comment:
        github.react(options.comment, "eyes")
    return f"run {newest.id} of commit {sha[:10]} is running again"


if __name__ == "__main__":
    sys.exit(main())
