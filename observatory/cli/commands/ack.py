"""`observatory ack`: acknowledge an alert."""

from __future__ import annotations

import getpass
import re
import subprocess
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from observatory.app.wanted import named_alert
from observatory.cli import options
from observatory.cli.output import name_broken, say
from observatory.errors import SelectionError
from observatory.store.base.problems import reason_of
from observatory.store.records import triage
from observatory.store.records.alerts import Acknowledgement
from observatory.store.records.layout import ALERTS


def command(
    id_: Annotated[
        str, typer.Argument(metavar="ID", help="The alert's identifier, or its first characters.")
    ],
    why: Annotated[str, typer.Option(metavar="REASON", help="The reason, for the next reader.")],
    until: Annotated[
        str, typer.Option(metavar="DATE", help="A date (2026-12-31) or a time from now (36h, 2w).")
    ] = "2w",
    who: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Your name. Default: that of git, else your login."),
    ] = None,
    results: options.Results = Path("results"),
) -> None:
    """Acknowledge an alert: record that it is known, why, and until when.

    The command appends to RESULTS/triage.toml; commit that file. The alert returns after that time.
    """  # fmt: skip
    name_broken(results, told_later=ALERTS)
    alert = named_alert(results, id_)
    now = datetime.now(UTC)
    if (end := _until(until, now)) <= now:
        raise SelectionError(f"--until {until} is in the past; give a later time")
    if not why.strip():
        raise SelectionError("--why is empty; give the reason")
    try:
        made = Acknowledgement(id=alert.id, who=who or _me(), why=why, at=now, until=end)
    except ValidationError as error:
        raise SelectionError(f"the acknowledgement is not valid: {reason_of(error)}") from error
    path = triage.add(results, made)
    say(f"{made.id} is acknowledged until {end:%Y-%m-%d %H:%M} UTC: {path}")


def _until(text: str, now: datetime) -> datetime:
    if re.fullmatch(r"\d+[hdw]", text):
        return now + options.span(text, "--until")
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise SelectionError(
            f"--until {text!r} is not a date; write 2026-12-31, or a time from now such as 2w"
        ) from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _me() -> str:
    name = ""
    with suppress(OSError):  # there is no git
        asked = ["git", "config", "user.name"]
        name = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    try:
        return name or getpass.getuser()
    except (KeyError, OSError) as error:  # a container whose user has no name
        raise SelectionError("git has no user.name; give your name with --who") from error
