"""`observatory publish`: what was measured, onto a branch of results."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from dashboard.words import several
from observatory.cli.exit_codes import Exit
from observatory.cli.options import Strict
from observatory.cli.problems import report_problems
from observatory.decide.places import SelectionError
from observatory.record import alerts as alerts_record
from observatory.record.alerts import Alerts
from observatory.record.files import write_atomic
from observatory.record.problems import Problem, RecordError
from observatory.record.tidying import Tidied, tidy
from observatory.record.uniting import United, holds_all, unite
from observatory.run.branch import Branch, NotMovedError, Published

app = typer.Typer()

_SPANS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_NAMED = 3
_README = """\
# Results of the observatory

Made by `observatory publish`, which adds what was measured and takes nothing out of this branch's
history. What each file is: docs/results.md of the observatory. Only `triage.toml` is written by
hand: what people said of alerts.
"""


@dataclass
class _Told:
    """What became of the results in the last attempt."""

    united: United = field(default_factory=United)
    tidied: Tidied = field(default_factory=Tidied)


@app.command()
def publish(
    results: Annotated[
        list[Path] | None,
        typer.Argument(help="Results directories: yours, or those that matrix jobs uploaded."),
    ] = None,
    repo: Annotated[Path, typer.Option(help="The repository, a local clone.")] = Path(),
    branch: Annotated[str, typer.Option(help="Its branch; made if it is not there.")] = "results",
    remote: Annotated[str, typer.Option(help="Where --push pushes to.")] = "origin",
    push: Annotated[
        bool, typer.Option("--push", help="Fetch the branch, add to it and push it.")
    ] = False,
    compact_after: Annotated[
        str,
        typer.Option(
            help="What no page reads of journals without a newer sample goes: 36h, 30d, 8w, never."
        ),
    ] = "30d",
    checkout: Annotated[
        Path | None, typer.Option(help="Also write what the branch then holds into this directory.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be added, and commit nothing.")
    ] = False,
    strict: Strict = False,
) -> None:
    """Add results to a branch that holds results and nothing else.

    Journals are merged sample by sample, so that publishing twice changes nothing and several may
    publish at once: nobody's commit is overwritten. What people wrote on the branch stays.
    """  # fmt: skip
    span = _span(compact_after)
    if not results and checkout is None:
        raise SelectionError("nothing to publish: name a results directory")
    if checkout is not None and checkout.exists() and any(checkout.iterdir()):
        raise SelectionError(f"--checkout {checkout} is there already; name a new directory")
    target = Branch(repo, branch, remote if push else None)
    told = _Told()

    def edit(work: Path, others: Sequence[Path]) -> str:
        nonlocal told
        told = _put_together(work, [*others, *(results or ())], span)
        return _message(told)

    errors = Console(stderr=True, highlight=False, soft_wrap=True)
    try:
        done = target.change(edit, dry_run)
        if checkout is not None and not dry_run:
            target.checkout(checkout)
    except NotMovedError as error:
        errors.print(f"observatory: {error}; nothing was published", style="red", markup=False)
        raise typer.Exit(Exit.UNPUBLISHED) from error
    for line in _lines(told) if done.before != done.after or dry_run else told.united.notes:
        print(line)
    print(_outcome(target, done, dry_run))
    report_problems(errors, told.united.problems, strict)


def _put_together(work: Path, parts: Sequence[Path], span: timedelta | None) -> _Told:
    new = not any(work.iterdir())
    united = unite(work, parts)
    tidied = tidy(work, None if span is None else datetime.now(UTC) - span)
    _adopt_alerts(work, parts, united.problems)
    if new and any(work.iterdir()):
        write_atomic(work / "README.md", _README.encode())
    return _Told(united, tidied)


def _adopt_alerts(work: Path, parts: Sequence[Path], problems: list[Problem]) -> None:
    """Take over the alerts of a part that holds all that the branch holds.

    They follow from all results together: those that were found in a part of them say nothing of
    the whole. The branch's stay then, and lend ids and times to those that are found next.
    """
    best = _alerts_of(work, problems)
    known = [(part, found) for part in parts if (found := _alerts_of(part, problems)) is not None]
    for part, found in known:
        if _later(found, best) and holds_all(part, work):
            best = found
            alerts_record.save(work, found)


def _alerts_of(results: Path, problems: list[Problem]) -> Alerts | None:
    try:
        return alerts_record.load(results)
    except RecordError as error:
        problems.append(Problem(results / alerts_record.FILE, str(error)))
        return None


def _later(found: Alerts, best: Alerts | None) -> bool:
    if best is None or best.newest is None:
        return True
    return found.newest is not None and found.newest >= best.newest and found != best


def _span(text: str) -> timedelta | None:
    if text == "never":
        return None
    found = re.fullmatch(r"(\d{1,4})([hdw])", text)
    if found is None:
        raise SelectionError(
            f"--compact-after {text!r} is no span of time; say it like 36h, 30d or 8w, or never"
        )
    return int(found[1]) * _SPANS[found[2]]


def _message(told: _Told) -> str:
    headers = told.united.grown.values()
    labels = list(dict.fromkeys(header.subject.label for header in headers))
    machines = list(dict.fromkeys(header.machine.machine for header in headers))
    if not labels:
        return "Results: nothing new is measured\n"
    first = f"Results: {_some(labels)} on {_some(machines)}"
    return f"{first}\n\n" + "\n".join(_lines(told)) + "\n"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _lines(told: _Told) -> list[str]:
    united, tidied = told.united, told.tidied
    samples = f"{several(united.samples, 'sample')} of {several(len(united.grown), 'subject')}"
    others = f"{several(united.ledgers, 'ledger')}, {several(united.files, 'other file')}"
    found = [f"new: {samples}, {others}"]
    if tidied.journals:
        found.append(
            f"{several(tidied.journals, 'journal')} compacted, {tidied.before:,} to "
            f"{tidied.after:,} bytes; {several(tidied.ledgers, 'ledger')} that nobody reads removed"
        )
    return [*found, *united.notes]


def _outcome(target: Branch, done: Published, dry_run: bool) -> str:
    where = f"{target.name} of {target.remote or target.repository.resolve()}"
    if dry_run:
        return f"Nothing was committed to {where}: a dry run."
    if done.before == done.after:
        return f"{where} has all of this already."
    again = f", at the {done.tries}. try" if done.tries > 1 else ""
    verb = "pushed" if target.remote else "committed"
    began = ", which begins with it" if done.before is None else ""
    return f"{verb} {str(done.after)[:10]} to {where}{began}{again}."
