"""`observatory nightly`: every step of a night in order, whichever fails."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from benchmarks.catalogue import BUILDS
from dashboard.pages.night import (
    PICTURE,
    Bar,
    StepOutcome,
    add_picture,
    night_picture,
    night_summary,
)
from dashboard.publish import MARKER
from observatory.analyze.series_keys import SelectionError
from observatory.cli import options
from observatory.errors import Exit
from observatory.run.local import STATE
from observatory.run.nightly import (
    STEPS,
    Nightly,
    Wishes,
    command_of,
    one_at_a_time,
    severest,
    steps,
)
from observatory.run.presets import PRESETS, Narrowed, tasks_of
from observatory.run.sources import commits_between
from observatory.store.base.files import write_atomic
from observatory.store.base.problems import RecordError
from observatory.store.journal import night as record
from observatory.store.journal.night import Night, NightStep
from observatory.store.records import alerts as alerts_record
from observatory.text import units

SEVEREST_FIRST = (
    Exit.WRONG_RESULTS, Exit.UNEXPECTED, Exit.ENVIRONMENT, Exit.USAGE, Exit.SAMPLE_FAILED,
    Exit.SYMBOLS, Exit.CONTRACTS, Exit.ALERTS, Exit.UNPUBLISHED, Exit.GITHUB, Exit.UNREADABLE,
    Exit.UNDECIDED,
)  # fmt: skip
"""The status of the night is the first of these with which a step ended."""
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")
_ADDRESS = re.compile(r"https://[\w.\-]+(:\d+)?(/[\w.\-~%]*)*/?")


def command(
    subject: Annotated[
        list[str] | None,
        typer.Argument(
            help="What to measure: newest, 3.3.7. Default: newest, unless --commits is given."
        ),
    ] = None,
    repo: options.Repo = None,
    commits: Annotated[
        str | None,
        typer.Option(help="A range A..B of commits in --repo; commits with results are skipped."),
    ] = None,
    results: options.Results = Path("results"),
    out: Annotated[Path, typer.Option(help="Directory of the pages.")] = Path("html"),
    preset: Annotated[
        str, typer.Option(help=f"How much of the matrix is measured: {', '.join(PRESETS)}.")
    ] = "quick",
    python: options.Python = None,
    with_: options.With = None,
    launch: options.Launches = None,
    backend: options.Backends = None,
    scenario: options.Scenarios = None,
    machine: options.Machine = None,
    only: Annotated[options.Words, options.only("--only", STEPS, "step")] = None,
    canary: Annotated[
        bool, typer.Option(help="Check that a shared cache mixes up no results.")
    ] = True,
    contracts: Annotated[bool, typer.Option(help="Check what PyTensor relies on in numba.")] = True,
    feed: Annotated[
        bool, typer.Option("--feed", help="Also write an Atom feed, with links to --link.")
    ] = False,
    link: Annotated[
        str, typer.Option(help="Address of the pages, for links in the feed and in issues.")
    ] = "",
    deliver: Annotated[
        str,
        typer.Option(
            metavar="OWNER/NAME", help="Keep one issue for each alert in this repository."
        ),
    ] = "",
    publish: Annotated[
        str, typer.Option(metavar="BRANCH", help="Add the results to this branch.")
    ] = "",
    publish_in: Annotated[Path, typer.Option(help="The repository of --publish.")] = Path(),
    remote: Annotated[
        str, typer.Option(help="The remote that --publish pushes to; '' pushes nowhere.")
    ] = "origin",
    summary: Annotated[
        Path | None, typer.Option(help="Append a summary to this file, e.g. $GITHUB_STEP_SUMMARY.")
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Start again instead of continuing an unfinished night.")
    ] = False,
    state: options.State = STATE,
) -> None:
    """Run all commands of a night: measure, check, find alerts, build the pages and publish.

    A step that fails does not stop the others. After an interruption the command continues with
    the next unfinished step. The exit status is that of the worst step.
    """  # fmt: skip
    _check(preset, only or (), repo, commits, link, deliver)
    narrowed = Narrowed(None, scenario, backend, launch)
    if unknown := narrowed.unknown():
        raise SelectionError(unknown)
    if not tasks_of(PRESETS[preset], narrowed):
        raise SelectionError(narrowed.none_left(f"the preset {preset}"))
    left_out = {name for name, on in (("canary", canary), ("contracts", contracts)) if not on}
    wishes = Wishes(
        subjects=subject or (() if commits else ("newest",)),
        commits=commits_between(repo, commits) if repo and commits else (),
        only=frozenset(only or STEPS) - left_out, results=results, out=out, preset=preset,
        python=python, extras=[one for one in with_ or () if one], launches=launch or (),
        backends=backend or (), scenarios=scenario or (), machine=machine,
        state=None if state == STATE else state, link=link, feed=feed, deliver=deliver,
        publish=publish, repository=publish_in, remote=remote,
    )  # fmt: skip
    known = vars(wishes) | {"commits": f"{commits} of {repo}", "only": sorted(wishes.only)}
    asked = [f"{name}={value}" for name, value in known.items()]
    console = Console(highlight=False, soft_wrap=True)
    say = partial(console.print, markup=False, style="bold")
    directory = state / "nightly"
    with one_at_a_time(directory, say) as lock:
        now = datetime.now(UTC)
        night = None if fresh else record.unfinished(directory, asked, now)
        if night is None:
            night = _new(wishes, asked, now)
            record.save(directory, night)
        else:
            say(f"continuing the night of {night.started_at:%Y-%m-%d %H:%M} UTC")
        night = Nightly(directory, partial(command_of, lock=lock), say).carry_out(night)
    console.print(_table(night))
    if summary is not None:
        _summarise(summary, night, wishes, console)
    if not night.over:
        raise typer.Exit(Exit.INTERRUPTED)
    worst = severest([step.status for step in night.steps if step.status], SEVEREST_FIRST)
    if worst:
        raise typer.Exit(worst if worst > 0 else Exit.UNEXPECTED)


def _check(
    preset: str, only: Sequence[str], repo: Path | None, commits: str | None, link: str,
    deliver: str,
) -> None:  # fmt: skip
    """Check early what would otherwise fail hours later. Raises SelectionError."""
    if preset not in PRESETS:
        raise SelectionError(f"there is no preset {preset!r}; choose from {', '.join(PRESETS)}")
    for name in only:
        if name not in STEPS:
            raise SelectionError(f"there is no step {name!r}; choose from {', '.join(STEPS)}")
    if (repo is None) != (commits is None):
        raise SelectionError("--repo and --commits go together: --repo CLONE --commits A..B")
    if link and not _ADDRESS.fullmatch(link):
        raise SelectionError(
            f"--link {link!r} is not an https address; write it like https://host/pages/"
        )
    if deliver and not _REPOSITORY.fullmatch(deliver):
        raise SelectionError(f"--deliver {deliver!r} is not a repository; write OWNER/NAME")
    if deliver and not os.environ.get("GITHUB_TOKEN"):
        raise SelectionError("--deliver needs a token in the environment variable GITHUB_TOKEN")


def _new(wishes: Wishes, asked: list[str], now: datetime) -> Night:
    return Night(
        schema="observatory/night/1", id=now.strftime("%Y%m%dT%H%M%SZ"), asked=asked,
        results=str(wishes.results), started_at=now, steps=steps(wishes),
    )  # fmt: skip


def _table(night: Night) -> Table:
    drawn = Table(title=f"Night of {night.started_at:%Y-%m-%d}", title_justify="left",
                  box=SIMPLE_HEAD, padding=(0, 1, 0, 0))  # fmt: skip
    for name in ("step", "outcome", "took"):
        drawn.add_column(name, justify="right" if name == "took" else "left")
    for told in map(_row, night.steps):
        took = "" if told.took is None else units.seconds(told.took)
        drawn.add_row(Text(told.name), Text(told.outcome, style="" if told.good else "red"), took)
    return drawn


def _row(step: NightStep) -> StepOutcome:
    took = (step.ended - step.began).total_seconds() if step.ended and step.began else None
    return StepOutcome(step.name, _outcome(step), took, step.status == Exit.OK)


def _outcome(step: NightStep) -> str:
    if step.skipped is not None:
        return f"skipped: {step.skipped}"
    if step.status is None:
        return "interrupted" if step.tries else "not started"
    if step.status == Exit.OK:
        return "done" if step.tries == 1 else f"done, after {step.tries} attempts"
    if step.status in set(Exit):
        return f"{step.status}: {Exit(step.status).meaning}"
    return f"killed by signal {-step.status}" if step.status < 0 else f"status {step.status}"


def _summarise(summary: Path, night: Night, wishes: Wishes, console: Console) -> None:
    alerts = None
    with suppress(RecordError):  # the step that found them has said so
        alerts = alerts_record.load(wishes.results)
    picture = _picture(wishes, summary)
    told = list(map(_row, night.steps))
    text = night_summary(told, alerts, datetime.now(UTC), wishes.link, picture)
    try:
        with summary.open("a", encoding="utf-8") as stream:  # it belongs to several steps of a job
            stream.write(text)
    except OSError as error:
        console.print(f"--summary {summary} cannot be written: {error.strerror}", style="yellow")


def _picture(wishes: Wishes, summary: Path) -> str | None:
    """Where the picture of the newest subject is, for the summary; None if there is none."""
    if not wishes.results.is_dir():
        return None
    from observatory.app.results import read  # pandas: only a summary needs it

    frame = read(wishes.results).frame
    times = frame[(frame["metric"] == "compile_time") & frame["scenario"].isin(BUILDS)]
    if times.empty:
        return None
    last = times.iloc[-1]
    mine = times[(times["subject"] == last["subject"]) & (times["machine"] == last["machine"])]
    mine = mine[mine["launch"] == ("fork" if "fork" in set(mine["launch"]) else last["launch"])]
    bars = [Bar(f"{row.scenario} {row.backend}", str(row.backend), float(row.value))
            for row in mine.itertuples()]  # fmt: skip
    content = night_picture(f"{last['subject']} on {last['machine']}: compile times", bars)
    if wishes.link and (wishes.out / MARKER).is_file():
        add_picture(wishes.out, content)
        return f"{wishes.link.rstrip('/')}/{PICTURE}"
    beside = summary.with_suffix(".svg")
    write_atomic(beside, content)
    return beside.name
