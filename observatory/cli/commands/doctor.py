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
from observatory.run.fitness import Finding, judge, look
from observatory.store.base.problems import RecordError
from observatory.store.records import calibration
from observatory.store.records.machine import this_machine
from observatory.text.units import percent

_STYLES = {"fine": "", "attention": "yellow", "unfit": "bold red"}


def command(results: options.Results = Path("results"), machine: options.Machine = None) -> None:
    """Say whether this machine is fit to measure, and what to do about it.

    Looks at load, frequency, limits, memory, disk and compiler, times a fixed loop, and reads the
    noise floor that `observatory calibrate` stored. Takes about a second.
    """  # fmt: skip
    findings = [*judge(look()), _floor(results, this_machine(machine).machine)]
    console = Console(highlight=False)
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("looked at", "state", "found"):
        table.add_column(name, no_wrap=name != "found")
    for one in findings:
        said = f"{one.said}\n→ {one.do}" if one.do else one.said
        table.add_row(Text(one.what), Text(one.state, style=_STYLES[one.state]), Text(said))
    console.print(table)
    console.print(_sentence(findings), markup=False)
    if any(one.state == "unfit" for one in findings):
        raise typer.Exit(Exit.UNFIT)


def _floor(results: Path, machine: str) -> Finding:
    advice = "observatory calibrate, on a quiet machine: until then a time has to change by 5 %"
    try:
        found = calibration.load(results, machine)
    except RecordError as error:
        return Finding("noise floor", "attention", str(error), advice)
    changes = [f.change for f in found.floors if f.metric in JUDGED_NOISY] if found else []
    if found is None or not changes:
        said = f"{machine} was never calibrated in {results}"
        return Finding("noise floor", "attention", said, advice)
    said = (
        f"chance changes a time by up to {percent(median(changes))} (the median of "
        f"{len(changes)} cells, taken {found.taken_at:%Y-%m-%d})"
    )
    return Finding("noise floor", "fine", said)


def _sentence(findings: list[Finding]) -> str:
    unfit = [one.what for one in findings if one.state == "unfit"]
    careful = [one.what for one in findings if one.state == "attention"]
    if unfit:
        return f"NOT FIT to measure: {', '.join(unfit)}."
    if careful:
        return f"Fit to count; times need care: {', '.join(careful)}."
    return "Fit to measure."
