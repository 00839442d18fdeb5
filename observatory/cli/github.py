"""The options, the client and the safe output of the commands that write to GitHub."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated

import typer

from observatory.cli.output import say
from observatory.errors import SelectionError
from observatory.github import settings
from observatory.github.client import GitHub
from observatory.github.transport import Clock, Transport

CLOCK = Clock()
API = "https://api.github.com"
REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}")

Repo = Annotated[
    str,
    typer.Option(
        envvar="GITHUB_REPOSITORY",
        metavar="OWNER/NAME",
        help="Repository on GitHub.",
        show_default=False,
    ),
]
Api = Annotated[
    str, typer.Option(envvar="GITHUB_API_URL", metavar="URL", help="Address of GitHub's REST API.")
]
Config = Annotated[
    Path | None, typer.Option(metavar="FILE", help=f"Settings file. Default: {settings.FILE}.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Print what would be done, and change nothing on GitHub.")
]


def client(repo: str, api: str) -> GitHub:
    """The client for one repository. Raises SelectionError for a bad name or without a token."""
    token = os.environ.get("GITHUB_TOKEN", "").strip()
    if not token:
        raise SelectionError(
            "GITHUB_TOKEN is not set; it needs a token that may write issues and pull requests, "
            "e.g.: export GITHUB_TOKEN=$(gh auth token)"
        )
    if not REPOSITORY.fullmatch(repo):
        raise SelectionError(f"--repo {repo!r:.100} is not a repository; write OWNER/NAME")
    return GitHub(Transport(api, token, CLOCK), repo)


def say_in_one_line(*texts: str) -> None:
    """Print texts; what a stranger wrote in one stays on its line."""
    say(*(text.replace("\n", " ") for text in texts))
