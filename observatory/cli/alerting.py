"""`observatory alerts` and `observatory ack`: what a person should see, and what they said."""

from __future__ import annotations

import getpass
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError
from rich.console import Console

from dashboard.alerts import told
from dashboard.feed import atom
from observatory.cli import options
from observatory.cli.comparing import tool_version
from observatory.cli.exit_codes import Exit
from observatory.cli.reading import report_problems
from observatory.decide.alerts import Moment, Run
from observatory.decide.counts import Counted, History
from observatory.decide.evidence import Evidence
from observatory.decide.frame import SelectionError
from observatory.decide.sentences import same_words
from observatory.decide.series import lines_of, series_of
from observatory.decide.timeline import at
from observatory.decide.watch import Watched, watch
from observatory.record import alerts as record
from observatory.record import triage
from observatory.record.alerts import STATES, Acknowledgement, Alerts, At
from observatory.record.cache import directory_for
from observatory.record.files import write_atomic
from observatory.record.problems import Problem, RecordError, reason_of
from observatory.record.read import Results, read_results
from observatory.record.saved import Saved, load_all
from observatory.record.summary import JournalSummary
from observatory.record.triage import Triage

app = typer.Typer()

_STALE_AFTER = "2d"
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
    ] = _STALE_AFTER,
    feed: Annotated[Path | None, typer.Option(help="Also write an Atom feed here.")] = None,
    link: Annotated[str, typer.Option(help="Address of the page, for the feed.")] = "",
    strict: options.Strict = False,
) -> None:
    """Find what got worse along the history, and say what became of it.

    Writes RESULTS/alerts.json. Counts alert at once, with their cause; times when enough subjects
    were measured since. What people said with `observatory ack` is in RESULTS/triage.toml.
    """  # fmt: skip
    wanted = _states(fail_on or ())
    said, unread = _triage(results)
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


def find(results: Path, moment: Moment) -> tuple[Alerts, list[Problem]]:
    """Everything that alerts in a results directory, and what of it could not be read."""
    read = read_results(results, directory_for(results))
    problems = list(read.problems)
    watched = Watched(
        series=series_of(read),
        histories=_histories(load_all(results), problems),
        runs=list(_runs(read)),
        last_good=max(filter(None, map(_good, read.journals.values())), default=None),
    )
    return watch(watched, moment, tool_version()), problems


def _histories(saved: Iterable[Saved], problems: list[Problem]) -> Iterator[History]:
    """``saved`` comes by machine and environment, and then by date. One at a time, in order."""

    def place(one: Saved) -> tuple[str, str]:
        return one.header.machine.machine, one.header.subject.env_name

    def whole(one: Saved) -> Saved:
        problems.extend(problem for problem in one.problems if problem not in problems)
        return one

    for (machine, env_name), subjects in groupby(saved, key=place):
        measured = (whole(one) for one in subjects if one.samples)
        counted = (
            Counted(_at(one), Evidence.of(one.samples), number)
            for number, one in enumerate(measured)
        )
        yield History(machine, env_name, counted)


def _at(saved: Saved) -> At:
    subject = saved.header.subject
    return At(label=subject.label[:200], commit=subject.commit, date=subject.date)


def _runs(read: Results) -> Iterator[Run]:
    """The newest subject of each machine and environment; measured when its journal says.

    Results without a journal say only when the newest subject was made.
    """
    summaries = {
        (one.header.subject.commit, one.header.machine.machine, one.header.subject.env_name): one
        for one in read.journals.values()
        if one.header is not None
    }
    for (machine, env_name), lines in groupby(lines_of(read), lambda o: (o.machine, o.env_name)):
        subjects = [subject for line in lines for subject in line.subjects]
        newest = max(subjects, key=lambda subject: subject.date)
        known = [summaries.get((one.commit, machine, env_name)) for one in subjects]
        moments = [one.measured_at for one in known if one and one.measured_at]
        yield Run(
            machine[:200], env_name[:200], at(newest), max(moments, default=newest.date),
            len(subjects), _failures(summaries.get((newest.commit, machine, env_name))),
        )  # fmt: skip


def _failures(summary: JournalSummary | None) -> dict[str, list[str]]:
    """How samples failed, and in which cells."""
    found: dict[str, list[str]] = defaultdict(list)
    for note in summary.notes if summary else ():
        if note.kind == "failed":
            found[same_words(note.text)].append(str(note.cell))
    return dict(found)


def _good(summary: JournalSummary) -> datetime | None:
    """When a run without a failure was measured; None if it had one."""
    failed = any(note.kind == "failed" for note in summary.notes)
    return None if failed else summary.measured_at


def _triage(results: Path) -> tuple[Triage, list[Problem]]:
    """What people said; a broken file is named, and alarms as if nothing had been said."""
    try:
        return triage.load(results), []
    except RecordError as error:
        reason = f"{error}; until then no acknowledgement counts"
        return Triage(), [Problem(results / triage.FILE, reason)]


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
