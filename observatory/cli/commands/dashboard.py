"""`observatory dashboard`: what was recorded, as pages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from dashboard.site import Links
from observatory.analyze.series_keys import SelectionError
from observatory.app.site import build_site
from observatory.cli import options
from observatory.cli.problems import report_problems


def command(
    results: Annotated[
        list[Path] | None,
        typer.Option(help="Directory of asv results; repeatable.  [default: results]"),
    ] = None,
    out: Annotated[Path, typer.Option(help="Directory of the pages.")] = Path("html"),
    commit_url: Annotated[
        str, typer.Option(help="Address of a commit, to which its hash is added; https.")
    ] = "",
    compare_url: Annotated[
        str, typer.Option(help="Address of a comparison, to which HASH...HASH is added; https.")
    ] = "",
    strict: options.Strict = False,
) -> None:
    """Build the static site. Open OUT/index.html; it needs no server and no network.

    Any directory of asv results can be shown. Run `observatory alerts` first: the pages show the
    alerts in RESULTS/alerts.json.
    """  # fmt: skip
    links = Links(_address("--commit-url", commit_url), _address("--compare-url", compare_url))
    page, problems = build_site(results or [Path("results")], out, links)
    print(f"The page: {page}")
    report_problems(problems, strict)


def _address(option: str, text: str) -> str:
    if text and not re.fullmatch(r"https://[\w.\-]+(/[\w.\-~%]*)*/?", text):
        raise SelectionError(
            f"{option} {text!r} is not an https address; write it like https://host/o/r/commit/"
        )
    return text
