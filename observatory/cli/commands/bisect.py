"""`observatory bisect`: which release or commit changed a count."""

from __future__ import annotations

import json as json_module
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from observatory.app.bisection import Bisected, Culprit, bisect
from observatory.app.session import TIMEOUT, Session
from observatory.benchmarks.catalogue import METRICS, Cell
from observatory.cli import options
from observatory.cli.output import TerminalProgress
from observatory.errors import SelectionError
from observatory.run.local import STATE
from observatory.run.sources import commits_between
from observatory.store.records import alerts as alerts_record
from observatory.store.records.alerts import Alert
from observatory.store.records.machine import this_machine
from observatory.store.records.subject import Subject
from observatory.text.units import human
from observatory.text.words import several

_FILES = 5


def command(
    ends: Annotated[
        list[str],
        typer.Argument(
            metavar="ALERT | GOOD BAD",
            help="The id of an alert; or two releases, or two refs of the clone (--repo).",
        ),
    ],
    cell: Annotated[
        str, typer.Option(help='The cell, e.g. "radon warm_disk NUMBA spawn"; an alert names it.')
    ] = "",
    metric: Annotated[
        str, typer.Option(help="The count or work that changed; an alert names it.")
    ] = "cache_misses",
    repo: Annotated[
        Path | None,
        typer.Option(help="A clone of PyTensor: between two releases, go on with its commits."),
    ] = None,
    confirm: Annotated[
        bool,
        typer.Option("--confirm/--no-confirm", help="Measure both sides of each change again."),
    ] = True,
    with_: options.With = None,
    python: options.Python = None,
    results: options.Results = Path("results"),
    machine: options.Machine = None,
    timeout: options.Timeout = TIMEOUT,
    state: options.State = STATE,
    json: options.Json = False,
) -> None:
    """Find which release or commit changed a count or a work.

    Each value is recorded in RESULTS, and none is measured twice: an interrupted search goes on
    where it was. Every change in the range is found, not only the last one. Both sides of a change
    are then measured again, in new environments with equal dependencies; what does not come back is
    not blamed.
    """  # fmt: skip
    if len(ends) == 1:
        good, bad, cell, metric = _of_alert(results, ends[0])
    elif len(ends) == 2:
        good, bad = ends
    else:
        raise SelectionError("give the id of one alert, or two ends: GOOD BAD")
    if metric not in METRICS:
        raise SelectionError(f"there is no metric {metric!r}; docs/reference/metrics.md lists them")
    console = Console(stderr=json)
    session = Session(
        "bisect", results, state, this_machine(machine), timeout,
        progress=TerminalProgress(console),
    )  # fmt: skip
    where = _cell(cell)
    found = list(_searches(session, (good, bad), where, metric, repo, confirm, with_ or (), python))
    if json:
        print(json_module.dumps([_as_json(one) for one in found], indent=1))
    else:
        for line in _lines(found):
            console.print(line, markup=False, highlight=False, soft_wrap=True)


def _searches(
    session: Session, ends: tuple[str, str], cell: Cell, metric: str, repo: Path | None,
    confirm: bool, extras: Sequence[str], python: str | None,
) -> Iterator[Bisected]:  # fmt: skip
    """The search along releases, then along the commits between two of them; or commits alone."""
    released = all(re.fullmatch(r"\d+(\.\d+)+", end) for end in ends)
    if not released and repo is None:
        raise SelectionError(f"{' and '.join(ends)} are not releases: name their clone with --repo")
    ranges = [ends]
    if released:
        subjects = session.subjects.parse_all(["..".join(ends)], extras, python)
        # Commits say more: the releases are measured again only where none follow.
        found = bisect(session, subjects, cell, metric, None, confirm and repo is None)
        yield found
        ranges = [(_tag(one.before), _tag(one.after)) for one in found.culprits]
    if repo is None:
        return
    for good, bad in ranges:
        texts = [*commits_between(repo, good), *commits_between(repo, f"{good}..{bad}")]
        subjects = session.subjects.parse_all(texts, extras, python)
        yield bisect(session, subjects, cell, metric, repo, confirm)


def _tag(release: Subject) -> str:
    return f"rel-{release.requirements[0].partition('==')[2]}"


def _cell(text: str) -> Cell:
    words = text.split()
    if len(words) != 4:
        raise SelectionError(
            f"--cell {text!r} is not a cell: write its model, scenario, backend and start method, "
            'as in "radon warm_disk NUMBA spawn"'
        )
    return Cell(*words)


def _of_alert(results: Path, name: str) -> tuple[str, str, str, str]:
    """The last good and the first bad subject of an alert, and the series that moved the most."""
    file = alerts_record.load(results)
    known: Sequence[Alert] = () if file is None else file.alerts
    alert = next((one for one in known if one.id.startswith(name)), None)
    if alert is None:
        raise SelectionError(f"{results} has no alert {name!r}; `observatory alerts` lists them")
    countable = [
        one
        for one in alert.series
        if one.kind != "noisy" and one.metric in METRICS and one.last_good
    ]
    if not countable:
        names = ", ".join(sorted({one.metric for one in alert.series})) or "a run"
        raise SelectionError(
            f"alert {alert.id} is about {names}, which no single sample tells, or nothing before "
            "it was good; its page has the command for git bisect"
        )
    series = countable[0]
    assert series.last_good is not None
    return series.last_good.label, series.first_bad.label, series.benchmark, series.metric


def _lines(found: Sequence[Bisected]) -> Iterator[str]:
    for one in found:
        known = sum(value is not None for value in one.values.values())
        yield (
            f"{one.metric} of {one.cell}, {one.subjects[0].label} to {one.subjects[-1].label}: "
            f"{several(len(one.subjects), 'subject')}, {known} with a value, "
            f"{several(one.taken, 'measurement')} now"
        )
        if not one.culprits:
            yield "  The value is the same at both ends: nothing was looked for in between."
        for culprit in one.culprits:
            yield from _culprit(culprit, METRICS[one.metric].unit)


def _culprit(culprit: Culprit, unit: str) -> Iterator[str]:
    change = f"{human(culprit.low, unit)} → {human(culprit.high, unit)}"
    yield f"  {culprit.before.label} → {culprit.after.label}: {change}, {certainty(culprit)}"
    if culprit.skipped:
        yield f"    not measurable in between, so any of them: {', '.join(culprit.skipped)}"
    for commit in culprit.commits.commits:
        pull = f" (#{commit.pull_request})" if commit.pull_request else ""
        yield f"    {commit.hash[:12]} {commit.author} {commit.date:%Y-%m-%d}: {commit.title}{pull}"
        files = list(commit.files[:_FILES])
        more = len(commit.files) - len(files)
        yield f"      {', '.join(files)}{f' and {more} more' if more > 0 else ''}"
    for name, (before, after) in culprit.dependencies.items():
        yield f"    {name} {before} → {after} at the same time"


def certainty(culprit: Culprit) -> str:
    """Whether the change came back when both sides were measured again."""
    if culprit.again is None:
        return "not measured again"
    if culprit.confirmed:
        return "confirmed"
    if None in culprit.again:
        return "not confirmed: a side could not be measured again"
    if culprit.dependencies:
        return "not reproduced with equal dependencies: one of those below changed it"
    return "not reproduced"


def _as_json(found: Bisected) -> dict[str, object]:
    return {
        "cell": str(found.cell), "metric": found.metric, "measured": found.taken,
        "values": {
            found.subjects[place].label: value for place, value in sorted(found.values.items())
        },
        "culprits": [
            {
                "before": one.before.label, "after": one.after.label, "from": one.low,
                "to": one.high, "again": one.again, "certainty": certainty(one),
                "skipped": one.skipped, "dependencies": one.dependencies,
                "commits": [commit.hash for commit in one.commits.commits],
            }
            for one in found.culprits
        ],
    }  # fmt: skip
