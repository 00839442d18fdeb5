"""The summary of a night, with a picture of the newest subject."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from observatory.benchmarks.catalogue import BUILDS, MODELS
from observatory.cli.nights import outcome_of
from observatory.cli.output import Console, append_summary
from observatory.dashboard.pages import night as page
from observatory.dashboard.publish import MARKER, add
from observatory.errors import ObservatoryError
from observatory.run.night_steps import Wishes
from observatory.store.base.files import write_atomic
from observatory.store.base.problems import RecordError
from observatory.store.journal.night import Night
from observatory.store.records import alerts as alerts_record
from observatory.text.words import known_first


def summarise(
    summary: Path, night: Night, wishes: Wishes, notes: Sequence[str], console: Console
) -> None:
    """Append a night to a summary; say what cannot be written, and raise nothing for it.

    The night is over: its own status matters more.
    """
    alerts = None
    with suppress(RecordError):  # the step that reads them has reported it
        alerts = alerts_record.load(wishes.results)
    picture = None
    try:
        picture = _picture(wishes, summary)
    except (OSError, ObservatoryError) as error:
        console.print(f"The summary has no picture: {error}", style="yellow", markup=False)
    outcomes = list(map(outcome_of, night.steps))
    text = page.night_summary(outcomes, alerts, datetime.now(UTC), wishes.url, picture, notes)
    try:
        append_summary(summary, text)
    except ObservatoryError as error:
        console.print(str(error), style="yellow", markup=False)


def _picture(wishes: Wishes, summary: Path) -> str | None:
    """Write the picture of the newest subject; return its address, or None without a time.

    Raises OSError if it cannot be written, and RecordError if the results cannot be read.
    """
    if not wishes.results.is_dir():
        return None
    from observatory.app.results import read  # it imports pandas

    frame = read(wishes.results).frame
    times = frame[(frame["metric"] == "compile_time") & frame["scenario"].isin(BUILDS)]
    if times.empty:
        return None
    last = times.iloc[-1]
    mine = times[
        (times["subject"] == last["subject"])
        & (times["machine"] == last["machine"])
        & (times["python"] == last["python"])
    ]
    # Bars name no model, so that all have to be of one.
    mine = mine[mine["model"] == known_first(mine["model"], MODELS)[0]]
    mine = mine[mine["launch"] == ("fork" if "fork" in set(mine["launch"]) else last["launch"])]
    bars = [page.Bar(f"{row.scenario} {row.backend}", str(row.backend), float(row.value))
            for row in mine.itertuples()]  # fmt: skip
    content = page.night_picture(f"{last['subject']} on {last['machine']}: compile times", bars)
    if wishes.url and (wishes.out / MARKER).is_file():
        add(wishes.out, page.PICTURE, content)
        return f"{wishes.url.rstrip('/')}/{page.PICTURE}"
    beside = summary.with_suffix(".svg")
    write_atomic(beside, content)
    return beside.name
