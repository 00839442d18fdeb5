"""`observatory doctor`: whether this machine is fit to measure, and what to do."""

from __future__ import annotations

from pathlib import Path
from statistics import median

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from observatory.analyze.comparison.rules import JUDGED_NOISY
from observatory.cli import options
from observatory.errors import Exit
from observatory.run.fitness import Check, judge, look
from observatory.store.base.problems import RecordError
from observatory.store.records import calibration
from observatory.store.records.machine import this_machine
from observatory.text.units import percent

_STYLES = {"fine": "", "attention": "yellow", "unfit": "bold red"}


def command(results: options.Results = Path("results"), machine: options.Machine = None) -> None:
    """Check whether this machine is fit to measure, and say what to do if it is not.

    The command checks load, CPU frequency, limits, memory, disk and compiler, times a fixed loop,
    and reads the noise floor that `observatory calibrate` stored. It takes about a second.
    """  # fmt: skip
    findings = [*judge(look()), _floor(results, this_machine(machine).machine)]
    console = Console(highlight=False)
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("subject", "state", "finding"):
        table.add_column(name, no_wrap=name != "finding")
    for one in findings:
        finding = f"{one.finding}\n→ {one.advice}" if one.advice else one.finding
        table.add_row(Text(one.subject), Text(one.state, style=_STYLES[one.state]), Text(finding))
    console.print(table)
    console.print(_sentence(findings), markup=False)
    if any(one.state == "unfit" for one in findings):
        raise typer.Exit(Exit.UNFIT)


def _floor(results: Path, machine: str) -> Check:
    advice = "run `observatory calibrate` on a quiet machine; until then, only changes of 5 % count"
    try:
        found = calibration.load(results, machine)
    except RecordError as error:
        return Check("noise floor", "attention", str(error), advice)
    changes = [f.change for f in found.floors if f.metric in JUDGED_NOISY] if found else []
    if found is None or not changes:
        said = f"{results} has no calibration of {machine}"
        return Check("noise floor", "attention", said, advice)
    said = (
        f"times vary by up to {percent(median(changes))} by chance (median of "
        f"{len(changes)} cells, {found.taken_at:%Y-%m-%d})"
    )
    return Check("noise floor", "fine", said)


def _sentence(findings: list[Check]) -> str:
    unfit = [one.subject for one in findings if one.state == "unfit"]
    careful = [one.subject for one in findings if one.state == "attention"]
    if unfit:
        return f"NOT FIT to measure: {', '.join(unfit)}."
    if careful:
        return f"Fit to count; be careful with times: {', '.join(careful)}."
    return "Fit to measure."
