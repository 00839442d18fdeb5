"""`observatory comment`: a comparison as the comment of its pull request."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from observatory.analyze.series_keys import SelectionError
from observatory.app.pull_request import artifact_of, publish
from observatory.cli import github
from observatory.github import settings
from observatory.github.artifact import Artifact, RefusedError, downloaded, run_of, target_of
from observatory.text.comment import comment as comment_of

_ARTIFACT = "observatory-comparison"


def command(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            help="A comparison (JSON) or an artifact (zip). Default: the artifact of --run.",
        ),
    ] = None,
    run: Annotated[
        int | None, typer.Option(min=1, help="The workflow run that made the artifact.")
    ] = None,
    pull: Annotated[
        int | None,
        typer.Option(min=1, help="Number of the pull request. Default: that of --run."),
    ] = None,
    repo: github.Repo = "",
    name: Annotated[str, typer.Option("--artifact", help="Name of the artifact.")] = _ARTIFACT,
    summary: Annotated[
        Path | None,
        typer.Option(help="Also append the comment to this file, e.g. $GITHUB_STEP_SUMMARY."),
    ] = None,
    config: github.Config = None,
    api: github.Api = github.API,
    dry_run: github.DryRun = False,
) -> None:
    """Publish a comparison as one comment on its pull request, with a check on the commit.

    An artifact of --run is not trusted: the command first checks its content and that GitHub's
    record of the run names the same pull request. The token is read from GITHUB_TOKEN.
    """  # fmt: skip
    if run is None and pull is None and summary is None:
        raise SelectionError("there is nowhere to publish; give --run, --pull or --summary")
    wanted = settings.load(config).comment
    try:
        local = None if file is None else artifact_of(file)
        if run is None and pull is None:
            _summarise(summary, comment_of(_given(local).comparison))
            return
        hub = github.client(repo, api)
        the_run = None if run is None else run_of(hub, run)
        found = _given(local) if local or not the_run else downloaded(hub, the_run, name)
        target = target_of(hub, found, the_run, pull)
    except RefusedError as error:
        raise RefusedError(f"the artifact was refused: {error}; nothing was written") from error
    text = comment_of(found.comparison)
    _summarise(summary, text)
    publish(hub, target, found.comparison, text, wanted, dry_run, github.say)


def _given(local: Artifact | None) -> Artifact:
    if local is None:
        raise SelectionError("there is nothing to publish; give --run or FILE")
    return local


def _summarise(summary: Path | None, text: str) -> None:
    """Append to the job's summary, which belongs to several steps."""
    if summary is None:
        return
    try:
        with summary.open("a", encoding="utf-8") as stream:
            stream.write(text.partition("\n")[2].rstrip() + "\n\n")
    except OSError as error:
        raise SelectionError(f"--summary {summary} cannot be written: {error.strerror}") from error
