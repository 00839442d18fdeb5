"""`observatory alerts` and `observatory ack`: what a person should see, and what they said."""

from __future__ import annotations

import getpass
import re
import subprocess
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError
from rich.console import Console

from dashboard.alerts import told
from dashboard.feed import atom
from observatory.cli import options
from observatory.cli.exit_codes import Exit
from observatory.cli.problems import report_problems
from observatory.cli.watching import find, said_of
from observatory.decide.alerts import STALE_AFTER, Moment
from observatory.decide.places import SelectionError
from observatory.record import alerts as record
from observatory.record import triage
from observatory.record.alerts import STATES, Acknowledgement
from observatory.record.files import write_atomic
from observatory.record.problems import reason_of

app = typer.Typer()

_SPANS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


@app.command("alerts")
def alerts_command(
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
    said, unread = said_of(results)
    moment = Moment(datetime.now(UTC), _span(stale_after), said, record.load(results))
    found, problems = find(results, moment)
    problems = [*unread, *problems]
    record.save(results, found)
    if feed is not None:
        write_atomic(feed, atom(found, moment.now, link))
    if json:
        print(found.model_dump_json(by_alias=True, indent=1))
    else:
        Console(highlight=False).print(told(found, moment.now, everything))
    report_problems(Console(stderr=True), problems, strict)
    if any(alert.state in wanted for alert in found.alerts):
        raise typer.Exit(Exit.ALERTS)


@app.command()
def ack(
    id_: Annotated[str, typer.Argument(metavar="ID", help="Of the alert; its beginning will do.")],
    why: Annotated[str, typer.Option(help="What is known: the next person reads it.")],
    until: Annotated[str, typer.Option(help="A date, 2026-12-31, or a span from now: 36h, 2w.")],
    who: Annotated[str | None, typer.Option(help="Default: your name in git.")] = None,
    results: options.Results = Path("results"),
) -> None:
    """Acknowledge an alert: say that it is known, why, and until when it may rest.

    Appends to RESULTS/triage.toml, which belongs into git. After that time the alert comes back.
    """  # fmt: skip
    known = record.load(results)
    alerts = known.alerts if known else []
    matching = [alert for alert in alerts if id_ and alert.id.startswith(id_)]
    if len(matching) != 1:
        there = ", ".join(alert.id for alert in matching or alerts if alert.state != "resolved")
        what = "no alert" if not matching else "more than one alert"
        raise SelectionError(
            f"{what} in {results / record.FILE} has an id that begins with {id_!r}; "
            f"there is {there or 'none: run `observatory alerts` first'}"
        )
    now = datetime.now(UTC)
    if (end := _until(until, now)) <= now:
        raise SelectionError(f"--until {until} is over already")
    if not why.strip():
        raise SelectionError("--why is empty: say what is known, for the next person")
    try:
        said = Acknowledgement(id=matching[0].id, who=who or _me(), why=why, at=now, until=end)
    except ValidationError as error:
        raise SelectionError(
            f"the acknowledgement is not as it has to be: {reason_of(error)}"
        ) from error
    path = triage.add(results, said)
    print(f"{said.id} is acknowledged until {end:%Y-%m-%d %H:%M} UTC: {path}")


def _states(words: Iterable[str]) -> set[str]:
    wanted = set(words)
    if odd := wanted - set(STATES[:4]):
        raise SelectionError(f"no alert is ever {odd.pop()!r}; choose from {', '.join(STATES[:4])}")
    return wanted


def _span(text: str) -> timedelta:
    found = re.fullmatch(r"(\d{1,4})([hdw])", text)
    if found is None:
        raise SelectionError(f"{text!r} is no span of time; say it like 36h, 2d or 3w")
    return int(found[1]) * _SPANS[found[2]]


def _until(text: str, now: datetime) -> datetime:
    if re.fullmatch(r"\d{1,4}[hdw]", text):
        return now + _span(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise SelectionError(
            f"--until {text!r} is no date; say it like 2026-12-31, or a span like 2w"
        ) from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _me() -> str:
    try:
        asked = ["git", "config", "user.name"]
        name = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        name = ""
    try:
        return name or getpass.getuser()
    except (KeyError, OSError) as error:  # a container without a name for its user
        raise SelectionError("git knows no name of yours: say --who") from error
