"""`observatory contracts`: check what PyTensor relies on in numba."""

from __future__ import annotations

import json as jsonlib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from observatory.app.contracts import Checks, numbas_of
from observatory.cli import options
from observatory.cli.output import Console, TerminalProgress, grid, say
from observatory.run.local import STATE, local_subjects
from observatory.store.base.files import check_writable
from observatory.store.records.contracts import Contracts, Status

_WORDS: dict[Status, str] = {
    "holds": "holds", "broken": "BROKEN", "failed": "failed", "unavailable": "-"
}  # fmt: skip
_COLUMNS: dict[Status, str] = {**_WORDS, "broken": "broken", "unavailable": "not used"}
_NOT_HELD: tuple[Status, ...] = ("broken", "failed")
_ALL_SHOWN = 4
"""Most numbas for which the table has a row for every contract."""
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
        options.several("Check this version of numba, also outside PyTensor's bounds", "VERSION"),
    ] = None,
    all_allowed: Annotated[
        bool, options.flag("--all-allowed", "Check every version of numba that PyTensor allows.")
    ] = False,
    newest: Annotated[
        bool, options.flag("--newest", "Check the newest numba, also outside PyTensor's bounds.")
    ] = False,
    pre: Annotated[
        bool, options.flag("--pre", "Check the newest pre-release of numba, if there is one.")
    ] = False,
    results: options.Results = Path("results"),
    python: options.Python = None,
    json: options.Json = False,
    state: options.State = STATE,
) -> None:
    """Check the undocumented behaviour of numba that PyTensor relies on.

    By default, the command checks the version of numba that the subject installs. It stores the
    outcome in RESULTS/contracts/.
    """  # fmt: skip
    check_writable(results, "--results")
    subjects = local_subjects(state)
    requirements = requirement or ()
    parsed = subjects.parse(subject, requirements, python)
    progress = TerminalProgress(Console(stderr=True))
    checks = Checks(subjects, parsed, subject, requirements, state, results, progress)
    for one in numbas_of(checks, numba or (), all_allowed, newest, pre):
        checks.check(one)
    if json:
        records = [one.model_dump(mode="json", by_alias=True) for one in checks.records]
        say(jsonlib.dumps(records))
    elif checks.records:
        _show(checks.records)
    if checks.exit_code:
        raise typer.Exit(checks.exit_code)


def _show(records: Sequence[Contracts]) -> None:
    """Print the table, then a sentence for each contract that does not hold."""
    out = Console(highlight=False)
    out.print(_table(records) if len(records) <= _ALL_SHOWN else _overview(records))
    for status in _NOT_HELD:
        numbas_by: dict[tuple[str, str, str], list[str]] = {}
        for one in records:
            for contract in one.of(status):
                key = contract.name, contract.detail, contract.needed
                numbas_by.setdefault(key, []).append(one.numba)
        for (name, detail, needed), numbas in numbas_by.items():
            text = f"{_WORDS[status]} {name} with numba {', '.join(numbas)}: {detail}"
            out.print(text, style=_STYLES[status], markup=False, soft_wrap=True)
            out.print(f"  needed: {needed}", markup=False, soft_wrap=True)


def _overview(records: Sequence[Contracts]) -> Table:
    """A row for each numba: the counts, and the contracts that do not hold."""
    counted = [_COLUMNS[status] for status in _WORDS]
    rows = (
        (
            one.numba, *(str(len(one.of(status))) for status in _WORDS),
            ", ".join(each.name for each in one.of(*_NOT_HELD)),
        )
        for one in records
    )  # fmt: skip
    return grid(("numba", *counted, "which"), rows, right=counted, wrapped=("which",))


def _table(records: Sequence[Contracts]) -> Table:
    """A row for each contract, and a column for each numba."""
    numbas = [f"numba {one.numba}" if len(records) == 1 else one.numba for one in records]
    statuses: dict[str, list[Status]] = {}
    for place, one in enumerate(records):
        for contract in one.contracts:
            row = statuses.setdefault(contract.name, ["unavailable"] * len(records))
            row[place] = contract.status
    rows = (
        [Text(name), *(Text(_WORDS[status], style=_STYLES.get(status, "")) for status in row)]
        for name, row in statuses.items()
    )
    return grid(("contract", *numbas), rows, wrapped=numbas)
