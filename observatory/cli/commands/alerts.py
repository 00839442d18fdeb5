"""`observatory alerts`: find what got worse in the history."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from observatory.analyze.history.alerts import STALE_AFTER
from observatory.analyze.history.standing import by_need
from observatory.app.history import alerts
from observatory.benchmarks.catalogue import no_such
from observatory.cli import options
from observatory.cli.output import Console, on_terminal, report_problems, say
from observatory.dashboard.feed import atom
from observatory.dashboard.publish import add_or_write
from observatory.errors import Exit, SelectionError
from observatory.store.base.patterns import contains
from observatory.store.records import found as found_record
from observatory.store.records.alerts import STATES
from observatory.text.alerts import drawn

_FAILING = STATES[:4]


def command(
    results: options.Results = Path("results"),
    everything: Annotated[
        bool, options.flag("--all", "Also list resolved alerts, small changes and improvements.")
    ] = False,
    top: Annotated[
        int | None,
        typer.Option(metavar="N", help="List at most this many, the most urgent first.", min=1),
    ] = None,
    since: Annotated[
        datetime | None,
        typer.Option(
            metavar="DATE",
            help="List only alerts that began at a subject of this day, e.g. 2026-12-31, or later.",
            formats=["%Y-%m-%d"],
        ),
    ] = None,
    benchmark: Annotated[
        str | None,
        typer.Option(
            metavar="PATTERN",
            help='List only alerts with a series whose name contains this, e.g. "radon cold".',
        ),
    ] = None,
    json: options.Json = False,
    fail_on: Annotated[
        list[str] | None,
        options.several(
            f"Exit with status {Exit.ALERTS} if an alert is in this state: {', '.join(_FAILING)}",
            "STATE",
        ),
    ] = None,
    stale_after: Annotated[
        str,
        typer.Option(
            metavar="TIME", help="Alert if a machine has had no sample for this time: 36h, 2d, 3w."
        ),
    ] = f"{STALE_AFTER.days}d",
    feed: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write an Atom feed to this file.")
    ] = None,
    url: options.Url = "",
    strict: options.Strict = False,
) -> None:
    """Find what got worse in the history, and print an alert for each cause.

    The command writes RESULTS/alerts.json and reads the acknowledgements in RESULTS/triage.toml
    and RESULTS/triage/*.toml. A changed count raises an alert at once; a changed time raises one
    when enough later subjects agree.
    """  # fmt: skip
    wanted = set(fail_on or ())
    if unknown := wanted - set(_FAILING):
        raise SelectionError(f"--fail-on: {no_such('state', unknown.pop(), _FAILING)}")
    options.pages_at(url)
    now = datetime.now(UTC)
    search = alerts(
        results,
        stale_after=options.span(stale_after, "--stale-after"),
        now=now,
        save=True,
        progress=on_terminal(),
    )
    found = search.record
    if feed is not None:
        add_or_write(feed, atom(found, now, url))
    from_day = None if since is None else since.replace(tzinfo=UTC)
    chosen = [
        one
        for one in by_need(found)
        if (from_day is None or one.first_bad.date >= from_day)
        and (benchmark is None or any(contains(s.benchmark, benchmark) for s in one.series))
    ][:top]
    if json:
        say(found.model_copy(update={"alerts": chosen}).model_dump_json(by_alias=True, indent=1))
    else:
        Console(highlight=False).print(
            drawn(found, now, everything, chosen, found_record.known(results))
        )
    report_problems(search.problems, strict)
    if wanted and found.newest is None:
        raise SelectionError(
            f"{results} has no results, so --fail-on has nothing to check; "
            "name another directory with --results"
        )
    if not search.saved:  # before the status of alerts, which says that the file is written
        raise typer.Exit(Exit.USAGE)
    if found.measured(*(one for one in STATES if one in wanted)):
        raise typer.Exit(Exit.ALERTS)
