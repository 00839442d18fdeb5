r"""Answer a comment that says /observe: run the comparison of a pull request again.

    GITHUB_TOKEN=... .venv/bin/python scripts/observe_again.py --repo OWNER/NAME --pull 1234 \
        --who ada --workflow observatory.yml

Whoever may write to the repository may ask. The newest run of the workflow for the newest commit is
run again: so it is measured as a pull request is, without rights, and what it leaves is known to
be of that commit. Nothing of the pull request is checked out here.

Exit status 0: it is running; 1: whoever asked may not, or there is no run; 13: GitHub did not do
what was asked.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote, urlencode

from observatory.github.errors import GitHubError, MissingError
from observatory.github.transport import SystemClock, Transport

GITHUB = 13
_WRITERS = ("admin", "maintain", "write")
_LOGIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}(\[bot\])?")
_FILE = re.compile(r"[\w.-]{1,100}\.ya?ml")
_REPO = re.compile(r"[\w.-]{1,100}/[\w.-]{1,100}")


class RefusedError(Exception):
    """It is not done; the message says why."""


def main(argv: Sequence[str] | None = None, transport: Transport | None = None) -> int:
    """Do what the comment asks for; returns the exit status."""
    options = _options(argv)
    try:
        token = os.environ.get("GITHUB_TOKEN", "")
        asked = transport or Transport(options.api, token, SystemClock())
        print(again(asked, options))
    except RefusedError as error:
        print(f"not measured: {error}", file=sys.stderr)
        return 1
    except GitHubError as error:
        print(f"error: {error}", file=sys.stderr)
        return GITHUB
    return 0


def again(transport: Transport, options: argparse.Namespace) -> str:
    """Run the comparison again; returns what was done. Raises RefusedError and GitHubError."""
    root = f"/repos/{options.repo}"
    if not may_write(transport, root, options.who):
        raise RefusedError(f"{options.who} may not write to {options.repo}")
    pull = _got(transport, f"{root}/pulls/{options.pull}", "show the pull request")
    sha = str(pull["head"]["sha"])
    query = urlencode({"head_sha": sha, "event": "pull_request", "per_page": 20})
    path = f"{root}/actions/workflows/{options.workflow}/runs?{query}"
    found = _got(transport, path, "list the runs of the workflow").get("workflow_runs") or ()
    runs = [run for run in found if run.get("head_sha") == sha]
    if not runs:
        raise RefusedError(
            f"{options.workflow} has no run for commit {sha[:10]}; put the label on the pull "
            "request instead, or push to it"
        )
    newest = max(runs, key=lambda run: int(run["id"]))
    if newest.get("status") != "completed":
        return f"run {newest['id']} of commit {sha[:10]} is under way already"
    transport.send("POST", f"{root}/actions/runs/{int(newest['id'])}/rerun", "run it again", {})
    if options.comment:
        path = f"{root}/issues/comments/{options.comment}/reactions"
        transport.send("POST", path, "react to the comment", {"content": "eyes"}, repeatable=True)
    return f"run {newest['id']} of commit {sha[:10]} is running again"


def may_write(transport: Transport, root: str, who: str) -> bool:
    """Whether somebody may write to the repository, as GitHub says. Raises GitHubError."""
    path = f"{root}/collaborators/{quote(who, safe='')}/permission"
    try:
        said = _got(transport, path, f"say what {who} may do")
    except MissingError:
        return False
    return said.get("permission") in _WRITERS


def _got(transport: Transport, path: str, doing: str) -> dict[str, Any]:
    try:
        found = json.loads(transport.send("GET", path, doing).content)
    except ValueError as error:
        raise GitHubError(f"GitHub's answer is no JSON: it was asked to {doing}") from error
    if not isinstance(found, dict):
        raise GitHubError(f"GitHub's answer is no object: it was asked to {doing}")
    return found


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--repo", default=os.environ.get("GITHUB_REPOSITORY", ""), help="OWNER/NAME")
    add("--pull", type=int, required=True, help="number of the pull request")
    add("--who", required=True, help="login of whoever commented")
    add("--comment", type=int, help="its id: it gets eyes")
    add("--workflow", default="observatory.yml", help="file of the workflow that compares")
    add("--api", default=os.environ.get("GITHUB_API_URL", "https://api.github.com"))
    options = parser.parse_args(argv)
    for pattern, name, text in (
        (_REPO, "--repo", options.repo), (_LOGIN, "--who", options.who),
        (_FILE, "--workflow", options.workflow),
    ):  # fmt: skip
        if not pattern.fullmatch(text):
            parser.error(f"{name} {text!r:.100} is not what it should be")
    return options


if __name__ == "__main__":
    sys.exit(main())
