"""`observatory comment`: publish a comparison as a comment on its pull request."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from observatory.app.pull_request import artifact_of, publish
from observatory.cli import github, options
from observatory.cli.output import append_summary
from observatory.errors import SelectionError
from observatory.github import settings
from observatory.github.artifact import Artifact, RefusedError, downloaded, run_of, target_of
from observatory.text.comment import comment as comment_of
from observatory.text.comparison.origin import Origin, PullRequest, Source
from observatory.text.comparison.story import tell

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
        int | None,
        typer.Option(min=1, metavar="ID", help="The workflow run that made the artifact."),
    ] = None,
    pull: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="NUMBER", help="Number of the pull request. Default: that of --run."
        ),
    ] = None,
    repo: github.Repo = "",
    name: Annotated[
        str, typer.Option("--artifact", metavar="NAME", help="Name of the artifact.")
    ] = _ARTIFACT,
    source: Annotated[
        str,
        typer.Option(
            envvar="OBSERVATORY_SOURCE",
            show_default=False,
            metavar="OWNER/NAME@COMMIT",
            help="Where on GitHub others get this observatory. The comment "
            "then links its terms to the documentation, and gives a command that repeats the "
            "comparison with only git and uv installed.",
        ),
    ] = "",
    summary: options.Summary = None,
    config: github.Config = None,
    api: github.Api = github.API,
    dry_run: github.DryRun = False,
) -> None:
    """Publish a comparison as one comment on its pull request, with a check on the commit.

    The command does not trust an artifact of --run: it first checks the content, and that GitHub's
    record of the run names the same pull request. It reads the token from GITHUB_TOKEN.
    """  # fmt: skip
    if run is None and pull is None and summary is None:
        raise SelectionError("there is nowhere to publish; give --run, --pull or --summary")
    wanted = settings.load(config).comment
    origin = Origin(Source.of(source), wanted.page)
    if source and origin.source is None:
        raise SelectionError(f"--source {source!r:.100} is not OWNER/NAME or OWNER/NAME@COMMIT")

    def summarise(text: str) -> None:
        if summary is not None:
            append_summary(summary, text.partition("\n")[2].rstrip() + "\n\n")

    try:
        local = None if file is None else artifact_of(file)
        if run is None and pull is None:
            summarise(comment_of(_given(local).comparison, origin))
            return
        hub = github.client(repo, api)
        the_run = None if run is None else run_of(hub, run)
        found = _given(local) if local or not the_run else downloaded(hub, the_run, name)
        target = target_of(hub, found, the_run, pull)
    except RefusedError as error:
        raise RefusedError(f"the artifact was refused: {error}; nothing was written") from error
    if target.run is not None:  # else a person may publish any comparison there
        origin = replace(origin, pull=PullRequest(
            hub.repository, target.pull.number, target.pull.base.ref, target.sha
        ))  # fmt: skip
    text = comment_of(found.comparison, origin)
    summarise(text)
    story = tell(found.comparison, origin)
    publish(hub, target, story, text, wanted, dry_run, github.say_in_one_line)


def _given(local: Artifact | None) -> Artifact:
    if local is None:
        raise SelectionError("there is nothing to publish; give --run or FILE")
    return local
