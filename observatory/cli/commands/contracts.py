"""`observatory contracts`: whether what PyTensor relies on in numba holds."""

from __future__ import annotations

import json as jsonlib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from observatory.app.contracts import Checks, numbas_of
from observatory.cli import options
from observatory.cli.progress import TerminalProgress
from observatory.run.local import STATE, local_subjects
from observatory.store.records.contracts import Contracts, Status

_WORDS: dict[Status, str] = {
    "holds": "holds", "broken": "BROKEN", "failed": "failed", "unavailable": "-"
}  # fmt: skip
_COLUMNS: dict[Status, str] = {**_WORDS, "broken": "broken", "unavailable": "not used"}
_NOT_HELD: tuple[Status, ...] = ("broken", "failed")
_ALL_SHOWN = 4
"""Numbas up to which the table has a row for every contract."""
_STYLES: dict[Status, str] = {"broken": "bold red", "failed": "yellow", "unavailable": "dim"}


def command(
    subject: Annotated[
        str,
        typer.Argument(
            help='The subject: newest, 3.3.7, "3.3.7 numba==0.66.0", a wheel or a commit.'
        ),
    ] = "newest",
    requirement: Annotated[
        list[str] | None,
        typer.Argument(help="Further requirements, e.g. numba==0.66.0 or a wheel."),
    ] = None,
    numba: Annotated[
        list[str] | None,
        typer.Option(help="Check this numba, also outside PyTensor's bounds; repeatable."),
    ] = None,
    all_allowed: Annotated[
        bool,
        typer.Option("--all-allowed", help="Check every numba that PyTensor allows."),
    ] = False,
    newest: Annotated[
        bool, typer.Option("--newest", help="Check the newest numba, whatever PyTensor's bound is.")
    ] = False,
    pre: Annotated[
        bool, typer.Option("--pre", help="Check the newest pre-release of numba, if there is one.")
    ] = False,
    results: options.Results = Path("results"),
    python: options.Python = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    state: options.State = STATE,
) -> None:
    """Check the undocumented behaviour of numba that PyTensor relies on.

    The default is the numba that the subject installs. Records are stored in RESULTS/contracts/.
    """  # fmt: skip
    subjects = local_subjects(state)
    requirements = requirement or ()
    parsed = subjects.parse(subject, requirements, python)
    progress = TerminalProgress(Console(stderr=True))
    checks = Checks(subjects, parsed, subject, requirements, state, results, progress)
    for one in numbas_of(checks, numba or (), all_allowed, newest, pre):
        checks.check(one)
    if json:
        records = [one.model_dump(mode="json", by_alias=True) for one in checks.records]
        print(jsonlib.dumps(records))
    elif checks.records:
        _show(checks.records)
    if checks.exit_code:
        raise typer.Exit(checks.exit_code)


def _show(records: Sequence[Contracts]) -> None:
    """The table, then a sentence for whatever does not hold."""
    out = Console(highlight=False)
    out.print(_table(records) if len(records) <= _ALL_SHOWN else _overview(records))
    for status in _NOT_HELD:
        said: dict[tuple[str, str, str], list[str]] = {}
        for one in records:
            for contract in one.of(status):
                key = contract.name, contract.detail, contract.needed
                said.setdefault(key, []).append(one.numba)
        for (name, detail, needed), numbas in said.items():
            text = f"{_WORDS[status]} {name} with numba {', '.join(numbas)}: {detail}"
            out.print(text, style=_STYLES[status], markup=False, soft_wrap=True)
            out.print(f"  needed: {needed}", markup=False, soft_wrap=True)


def _overview(records: Sequence[Contracts]) -> Table:
    """Of many numbas, which would not fit beside each other: counts, and what does not hold."""
    drawn = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    drawn.add_column("numba", no_wrap=True)
    for status in _WORDS:
        drawn.add_column(_COLUMNS[status], justify="right")
    drawn.add_column("which")
    for one in records:
        which = ", ".join(each.name for each in one.of(*_NOT_HELD))
        counts = (str(len(one.of(status))) for status in _WORDS)
        drawn.add_row(Text(one.numba), *counts, Text(which))
    return drawn


def _table(records: Sequence[Contracts]) -> Table:
    """Contract by numba."""
    drawn = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    drawn.add_column("contract", no_wrap=True)
    for one in records:
        drawn.add_column(Text(f"numba {one.numba}" if len(records) == 1 else one.numba))
    statuses: dict[str, list[Status]] = {}
    for place, one in enumerate(records):
        for contract in one.contracts:
            row = statuses.setdefault(contract.name, ["unavailable"] * len(records))
            row[place] = contract.status
    for name, row in statuses.items():
        drawn.add_row(Text(name), *(Text(_WORDS[s], style=_STYLES.get(s, "")) for s in row))
    return drawn
