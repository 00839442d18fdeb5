"""`observatory contracts`: whether what PyTensor relies on in numba holds."""

from __future__ import annotations

import json as jsonlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from observatory.cli import options
from observatory.cli.exit_codes import Exit
from observatory.record import contracts as record
from observatory.record.contracts import Contracts, Status, version_order
from observatory.record.subject import Subject
from observatory.run.contracts import SuiteError, check
from observatory.run.environments import EnvironmentMakingError
from observatory.run.here import STATE, environment_of, subjects_here
from observatory.run.numbas import Numba, Numbas
from observatory.run.subjects import Subjects

app = typer.Typer()

_WORDS: dict[Status, str] = {
    "holds": "holds", "broken": "BROKEN", "failed": "failed", "unavailable": "-"
}  # fmt: skip
_COLUMNS: dict[Status, str] = {**_WORDS, "broken": "broken", "unavailable": "not used"}
_SAID: dict[Status, str] = {"broken": "BROKEN", "failed": "not judged", "holds": "hold"}
_NOT_HELD: tuple[Status, ...] = ("broken", "failed")
_ALL_SHOWN = 4
"""Numbas up to which the table has a row for every contract."""
_STYLES: dict[Status, str] = {"broken": "bold red", "failed": "yellow", "unavailable": "dim"}


@dataclass
class _Session:
    """What is asked for, and what became of it."""

    subjects: Subjects
    subject: Subject
    """With its own numba."""
    text: str
    requirements: Sequence[str]
    state: Path
    results: Path
    console: Console
    """For what happens, apart from the result."""
    records: list[Contracts] = field(default_factory=list)
    undecided: list[str] = field(default_factory=list)
    without_environment: int = 0

    def check(self, numba: Numba | None) -> None:
        """Check with one numba; what goes wrong is said, and does not stop the others.

        None: with whatever the subject gets.
        """
        subject = self._with(numba)
        overrides = numba.overrides if numba else ()
        name = f"PyTensor {subject.label}"
        try:
            place = environment_of(subject, self.subjects, self.state, overrides)
            found = check(place, subject, lifted=bool(overrides))
        except (EnvironmentMakingError, SuiteError) as error:
            self.without_environment += isinstance(error, EnvironmentMakingError)
            self.undecided.append(f"{name}: {error}")
            self._say(self.undecided[-1], "red")
            return
        self.records.append(found)
        record.save(self.results, found)
        self._say(f"numba {found.numba}: {_counted(found)} ({found.seconds:.0f} s)")

    def _with(self, numba: Numba | None) -> Subject:
        if numba is None or f"numba=={numba.version}" in self.subject.requirements:
            return self.subject
        extras = [*self.requirements, f"numba=={numba.version}"]
        return self.subjects.parse(self.text, extras, self.subject.python)

    def _say(self, text: str, style: str = "") -> None:
        self.console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)


@app.command()
def contracts(
    subject: Annotated[
        str,
        typer.Argument(
            help='A release (3.3.7), newest, a wheel, or a commit; also "3.3.7 numba==0.66.0".'
        ),
    ] = "newest",
    requirement: Annotated[
        list[str] | None, typer.Argument(help="Further requirements, e.g. numba==0.66.0, a wheel.")
    ] = None,
    numba: Annotated[
        list[str] | None,
        typer.Option(help="With this numba, within PyTensor's bounds or not; repeatable."),
    ] = None,
    all_allowed: Annotated[
        bool,
        typer.Option("--all-allowed", help="With every numba that PyTensor allows."),
    ] = False,
    newest: Annotated[
        bool, typer.Option("--newest", help="With the newest numba, PyTensor's bound lifted.")
    ] = False,
    pre: Annotated[
        bool, typer.Option("--pre", help="With the newest pre-release of numba, if there is one.")
    ] = False,
    results: options.Results = Path("results"),
    python: Annotated[
        str | None, typer.Option(help="Python of the environment, e.g. 3.12. Default: the newest.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the records instead.")] = False,
    state: Annotated[Path, typer.Option(help="Where environments are kept.")] = STATE,
) -> None:
    """Check what PyTensor relies on in numba and no document of numba's promises.

    By default with the numba that the subject brings. Writes RESULTS/contracts/.
    """  # fmt: skip
    console = Console(stderr=True)
    subjects = subjects_here(state)
    requirements = requirement or ()
    parsed = subjects.parse(subject, requirements, python)
    session = _Session(subjects, parsed, subject, requirements, state, results, console)
    for one in _wanted(session, numba or (), all_allowed, newest, pre):
        session.check(one)
    if json:
        records = [one.model_dump(mode="json", by_alias=True) for one in session.records]
        print(jsonlib.dumps(records))
    elif session.records:
        _show(session.records)
    _leave(session)


def _wanted(
    session: _Session, asked: Sequence[str], all_allowed: bool, newest: bool, pre: bool
) -> Sequence[Numba | None]:
    """Every numba once, oldest first; None is whatever the subject gets."""
    numbas = Numbas(session.subjects.index, session.subject)
    found = [numbas.asked(version) for version in asked]
    found += numbas.allowed() if all_allowed else []
    found += [numbas.newest()] if newest else []
    if pre:
        prerelease = numbas.newest_prerelease()
        if prerelease is None:
            session.console.print("pre-releases: no pre-release on the index", markup=False)
        else:
            found.append(prerelease)
    if not (found or pre):
        own = numbas.own()
        pinned = any(one.startswith("numba==") for one in session.subject.extras)
        # The numba of a release's day is within its bounds; one that was typed need not be.
        return [numbas.asked(own) if own and pinned else None]
    by_version = {one.version: one for one in found}
    return sorted(by_version.values(), key=lambda one: version_order(one.version))


def _counted(found: Contracts) -> str:
    order: tuple[Status, ...] = ("broken", "failed", "holds")
    counts = {status: len(found.of(status)) for status in order}
    said = [f"{count} {_SAID[status]}" for status, count in counts.items() if count]
    beyond = ", beyond PyTensor's bounds" if found.checked and found.checked.lifted else ""
    return ", ".join(said) + beyond


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


def _leave(session: _Session) -> None:
    """The exit status: what is broken outranks what could not be judged."""
    if any(one.of("broken") for one in session.records):
        raise typer.Exit(Exit.CONTRACTS)
    if session.without_environment and not session.records:
        raise typer.Exit(Exit.ENVIRONMENT)
    if session.undecided or any(one.of("failed") for one in session.records):
        raise typer.Exit(Exit.UNDECIDED)
