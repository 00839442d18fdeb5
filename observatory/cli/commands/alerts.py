"""`observatory alerts`: what got worse in the history."""

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
        bool, typer.Option("--all", help="Also list resolved alerts and improvements.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Exit with status {Exit.ALERTS} if an alert is in this state; repeatable: "
            f"{', '.join(STATES[:4])}."
        ),
    ] = None,
    stale_after: Annotated[
        str, typer.Option(help="Alert if a machine has no sample for so long: 36h, 2d, 3w.")
    ] = f"{STALE_AFTER.days}d",
    feed: Annotated[Path | None, typer.Option(help="Also write an Atom feed to this file.")] = None,
    link: Annotated[str, typer.Option(help="Address of the pages, for links in the feed.")] = "",
    strict: options.Strict = False,
) -> None:
    """Find what got worse in the history, and print an alert for each cause.

    The command writes RESULTS/alerts.json and reads the acknowledgements in RESULTS/triage.toml.
    Counts alert at the first subject that changed, times when enough later subjects agree.
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
        raise SelectionError(
            f"--fail-on {odd.pop()!r} is not a state; choose from {', '.join(STATES[:4])}"
        )
    return wanted
