"""`observatory alerts`: what got worse along the history, and what became of it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from dashboard.feed import atom
from observatory.analyze.history.alerts import STALE_AFTER
from observatory.analyze.series_keys import SelectionError
from observatory.app.history import alerts
from observatory.cli import options
from observatory.cli.problems import report_problems
from observatory.cli.spans import span
from observatory.errors import Exit
from observatory.store.base.files import write_atomic
from observatory.store.records.alerts import STATES
from observatory.text.alerts import drawn


def command(
    results: options.Results = Path("results"),
    everything: Annotated[
        bool, typer.Option("--all", help="Also what is resolved, and improvements.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print alerts.json instead.")] = False,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Exit status {Exit.ALERTS} if one is {', '.join(STATES[:4])}; repeatable."
        ),
    ] = None,
    stale_after: Annotated[
        str, typer.Option(help="A machine without a newer sample is an alert: 36h, 2d, 3w.")
    ] = f"{STALE_AFTER.days}d",
    feed: Annotated[Path | None, typer.Option(help="Also write an Atom feed here.")] = None,
    link: Annotated[str, typer.Option(help="Address of the page, for the feed.")] = "",
    strict: options.Strict = False,
) -> None:
    """Find what got worse along the history, and say what became of it.

    Writes RESULTS/alerts.json. Counts alert at once, with their cause; times when enough subjects
    were measured since. What people said with `observatory ack` is in RESULTS/triage.toml.
    """  # fmt: skip
    wanted = _states(fail_on or ())
    now = datetime.now(UTC)
    search = alerts(results, stale_after=span(stale_after), now=now, save=True)
    found = search.record
    if feed is not None:
        write_atomic(feed, atom(found, now, link))
    if json:
        print(found.model_dump_json(by_alias=True, indent=1))
    else:
        Console(highlight=False).print(drawn(found, now, everything))
    report_problems(search.problems, strict)
    if any(alert.state in wanted for alert in found.alerts):
        raise typer.Exit(Exit.ALERTS)


def _states(words: Iterable[str]) -> set[str]:
    wanted = set(words)
    if odd := wanted - set(STATES[:4]):
        raise SelectionError(f"no alert is ever {odd.pop()!r}; choose from {', '.join(STATES[:4])}")
    return wanted
