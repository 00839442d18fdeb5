"""`observatory ack`: acknowledge an alert."""

from __future__ import annotations

import getpass
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from observatory.analyze.series_keys import SelectionError
from observatory.cli import options
from observatory.cli.spans import is_span, span
from observatory.store.base.problems import reason_of
from observatory.store.records import alerts as record
from observatory.store.records import triage
from observatory.store.records.alerts import Acknowledgement


def command(
    id_: Annotated[
        str, typer.Argument(metavar="ID", help="The alert's identifier, or its first characters.")
    ],
    why: Annotated[str, typer.Option(help="The reason, for the next reader.")],
    until: Annotated[str, typer.Option(help="A date (2026-12-31) or a time from now (36h, 2w).")],
    who: Annotated[str | None, typer.Option(help="Your name. Default: user.name of git.")] = None,
    results: options.Results = Path("results"),
) -> None:
    """Acknowledge an alert: record that it is known, why, and until when.

    The command appends to RESULTS/triage.toml; commit that file. The alert returns when the time is
    over.
    """  # fmt: skip
    known = record.load(results)
    alerts = known.alerts if known else []
    matching = [alert for alert in alerts if id_ and alert.id.startswith(id_)]
    if len(matching) != 1:
        there = ", ".join(alert.id for alert in matching or alerts if alert.state != "resolved")
        what = "no alert" if not matching else "more than one alert"
        raise SelectionError(
            f"{what} in {results / record.FILE} has an ID that begins with {id_!r}; "
            + (f"choose from {there}" if there else "run `observatory alerts` first")
        )
    now = datetime.now(UTC)
    if (end := _until(until, now)) <= now:
        raise SelectionError(f"--until {until} is in the past; give a later time")
    if not why.strip():
        raise SelectionError("--why is empty; give the reason")
    try:
        said = Acknowledgement(id=matching[0].id, who=who or _me(), why=why, at=now, until=end)
    except ValidationError as error:
        raise SelectionError(f"the acknowledgement is not valid: {reason_of(error)}") from error
    path = triage.add(results, said)
    print(f"{said.id} is acknowledged until {end:%Y-%m-%d %H:%M} UTC: {path}")


def _until(text: str, now: datetime) -> datetime:
    if is_span(text):
        return now + span(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise SelectionError(
            f"--until {text!r} is not a date; write 2026-12-31, or a time from now such as 2w"
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
        raise SelectionError("git has no user.name; give your name with --who") from error
