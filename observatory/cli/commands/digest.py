"""`observatory digest`: what changed in a week, as Markdown with one picture."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from observatory.app.history import alerts
from observatory.cli import options
from observatory.cli.output import report_problems, say
from observatory.store.base.files import write_atomic
from observatory.text.digest import digest_of, digest_text


def command(
    results: options.Results = Path("results"),
    last: Annotated[
        str, typer.Option(metavar="TIME", help="The time before the newest subject: 7d, 2w.")
    ] = "7d",
    title: Annotated[str, typer.Option(help="The heading.")] = "What changed",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="File to write. Default: standard output."
        ),
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Also draw the changes to this file: .png, .svg or .pdf."
        ),
    ] = None,
    strict: options.Strict = False,
) -> None:
    """Write what got faster, slower, right and wrong as Markdown, for a forum or an issue.

    The digest holds alerts, improvements and the smaller changes that are no alerts, if their
    first subject is in the given time. The command changes no file but those that you name.
    """  # fmt: skip
    search = alerts(results)
    found = digest_of(search.record, options.span(last, "--last"))
    link = ""
    if picture is not None and found.bars:
        # matplotlib takes half a second to import: only a picture needs it.
        from observatory.app import plot

        plot.save(plot.digest(found.bars), picture)
        link = os.path.relpath(picture, out.parent if out is not None else ".")
    text = digest_text(found, title, link)
    if out is None:
        say(text, end="")
    else:
        write_atomic(out, text.encode())
    report_problems(search.problems, strict)
