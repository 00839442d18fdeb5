"""`observatory doctor`: check whether this machine is fit to measure."""

from __future__ import annotations

from pathlib import Path
from statistics import median

import typer
from rich.console import Console
from rich.text import Text

from observatory.analyze.comparison.rules import JUDGED_NOISY
from observatory.cli import options
from observatory.cli.output import grid
from observatory.errors import Exit
from observatory.run.fitness import Check, judge, look
from observatory.store.base.problems import RecordError
from observatory.store.records import calibration
from observatory.store.records.machine import this_machine
from observatory.text.units import percent

_STYLES = {"fine": "", "attention": "yellow", "unfit": "bold red"}


def command(results: options.Results = Path("results"), machine: options.Machine = None) -> None:
    """Check whether this machine is fit to measure, and say what to do if it is not.

    The command checks the load, CPU frequency, limits, memory, disk and compiler, and times a fixed
    loop. It also reads the noise floors that `observatory calibrate` stored. It takes a second.
    """  # fmt: skip
    findings = [*judge(look()), _floor(results, this_machine(machine).machine)]
    console = Console(highlight=False)
    rows = (
        (one.subject, Text(one.state, style=_STYLES[one.state]),
         f"{one.finding}\n→ {one.advice}" if one.advice else one.finding)
        for one in findings
    )  # fmt: skip
    console.print(grid(("subject", "state", "finding"), rows, wrapped=("finding",)))
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
        missing = f"{results} has no calibration of {machine}"
        return Check("noise floor", "attention", missing, advice)
    varies = (
        f"times vary by up to {percent(median(changes))} by chance (median of "
        f"{len(changes)} cells, {found.taken_at:%Y-%m-%d})"
    )
    return Check("noise floor", "fine", varies)


def _sentence(findings: list[Check]) -> str:
    unfit = [one.subject for one in findings if one.state == "unfit"]
    careful = [one.subject for one in findings if one.state == "attention"]
    if unfit:
        return f"NOT FIT to measure: {', '.join(unfit)}."
    if careful:
        return f"Fit to count; be careful with times: {', '.join(careful)}."
    return "Fit to measure."
