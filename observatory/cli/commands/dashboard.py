"""`observatory dashboard`: build the static site."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dashboard.site import Links
from observatory.app.site import build_site
from observatory.cli import options
from observatory.cli.output import on_terminal, report_problems


def command(
    results: Annotated[
        list[Path] | None,
        typer.Option(help="Directory of asv results; repeatable.  [default: results]"),
    ] = None,
    out: options.Pages = Path("html"),
    commit_url: Annotated[
        str, typer.Option(help="Address (https) to which the hash of a commit is added.")
    ] = "",
    compare_url: Annotated[
        str, typer.Option(help="Address (https) to which HASH...HASH is added.")
    ] = "",
    strict: options.Strict = False,
) -> None:
    """Build the static site. Open OUT/index.html; it needs no server and no network.

    The command shows any directory of asv results. Run `observatory alerts` first: the pages show
    the alerts in RESULTS/alerts.json.
    """  # fmt: skip
    links = Links(
        options.https(commit_url, "--commit-url", "https://host/o/r/commit/"),
        options.https(compare_url, "--compare-url", "https://host/o/r/compare/"),
    )
    page, problems = build_site(results or [Path("results")], out, links, progress=on_terminal())
    print(f"The page: {page}")
    report_problems(problems, strict)
