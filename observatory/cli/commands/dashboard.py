"""`observatory dashboard`: build the static site."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from observatory.app.site import build_site
from observatory.app.source import Source
from observatory.cli import options
from observatory.cli.output import on_terminal, report_problems, say


def command(
    results: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="DIR", help="Directory of asv results; repeatable.  [default: results]"
        ),
    ] = None,
    out: options.Pages = Path("html"),
    repo: Annotated[
        Path | None,
        typer.Option(
            metavar="CLONE",
            help="A clone of the measured project: alerts then list suspected commits.",
        ),
    ] = None,
    asv_config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="An asv.conf.json with the project's name and addresses. Default: the "
            "one in the results or in the directory above.",
        ),
    ] = None,
    project: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Name of the measured project, for titles. Default: that in the asv.conf.json, "
            "else that of the repository in --commit-url.",
        ),
    ] = "",
    commit_url: Annotated[
        str,
        typer.Option(metavar="URL", help="Address (https) to which the hash of a commit is added."),
    ] = "",
    compare_url: Annotated[
        str, typer.Option(metavar="URL", help="Address (https) to which BASE...HEAD is added.")
    ] = "",
    triage_url: Annotated[
        str,
        typer.Option(
            metavar="URL",
            help="Address (https) of the form for a new file in the directory `triage` of the "
            "results: alerts then have buttons that settle them.",
        ),
    ] = "",
    url: options.Url = "",
    strict: options.Strict = False,
) -> None:
    """Build the static site. Open OUT/index.html; it needs no server and no network.

    The command shows any directory of asv results. Run `observatory alerts` first: the pages show
    the alerts in RESULTS/alerts.json. The project's name and the addresses of its commits come from
    the asv.conf.json beside the results, or from --project and --commit-url.
    """  # fmt: skip
    addresses = {
        "name": project,
        "commit": options.https(commit_url, "--commit-url", "https://host/o/r/commit/"),
        "compare": options.https(compare_url, "--compare-url", "https://host/o/r/compare/"),
        "triage": options.https(triage_url, "--triage-url", "https://host/o/r/new/results/triage"),
    }
    source = Source(asv_config, repo, addresses)
    page, problems = build_site(
        results or [Path("results")], out, source, progress=on_terminal(),
        url=options.pages_at(url),
    )  # fmt: skip
    say(f"The page: {page}")
    report_problems(problems, strict)
