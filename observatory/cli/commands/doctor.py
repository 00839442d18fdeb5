"""`observatory doctor`: check whether this machine is fit to measure."""

from __future__ import annotations

from pathlib import Path
from statistics import median

import typer
from rich.text import Text

from observatory.analyze.comparison.rules import JUDGED_NOISY
from observatory.analyze.sentinel import looks
from observatory.app.cluster import WorkerFacts, workers_of
from observatory.cli import options
from observatory.cli.output import Console, grid, name_broken
from observatory.errors import Exit
from observatory.run.fitness import Check, judge, look
from observatory.run.interpreters import SUPPORTED
from observatory.run.local import STATE
from observatory.store.base.problems import RecordError
from observatory.store.records import calibration, sentinels
from observatory.store.records.machine import this_machine
from observatory.text.sentinel import changed, verdict
from observatory.text.units import percent

_STYLES = {"fine": "", "attention": "yellow", "unfit": "bold red"}


def command(
    results: options.Results = Path("results"),
    machine: options.Machine = None,
    cluster: options.Examined = None,
    state: options.State = STATE,
) -> None:
    """Check whether this machine is fit to measure, and say what to do if it is not.

    The command checks the load, CPU frequency, limits, memory, disk and compiler, and times a fixed
    loop. It also reads what `observatory calibrate` and `observatory sentinel` stored. It takes a
    second.

    With --cluster it checks the workers of a cluster instead: it names the host, CPUs and model of
    each, says what each cannot take, and refuses workers that share a CPU.
    """  # fmt: skip
    if cluster is None:
        name = this_machine(machine).machine
        name_broken(results)
        findings = [*judge(look()), _floor(results, name), _sentinel(results, name)]
    else:
        findings = [examined(one) for one in workers_of(cluster, state)]
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


def examined(worker: WorkerFacts) -> Check:
    """What a worker of a cluster is, and what it cannot take."""
    subject = f"worker {worker.address}"
    cpus = f"CPU {', '.join(map(str, worker.cpus))}" if worker.cpus else "no CPU of its own"
    known = f"{worker.host}, {cpus}, {worker.model}"
    if worker.problem:
        return Check(subject, "unfit", f"{known}; it takes nothing: {worker.problem}")
    lacking = [one for one in SUPPORTED if one not in worker.pythons]
    limits = [f"it takes no sample that needs Python {' or '.join(lacking)}"] if lacking else []
    if worker.uncounted:
        limits.append(f"it does not take the pass `work`: {worker.uncounted}")
    return Check(subject, "fine", "; ".join([known, *limits]))


def _floor(results: Path, machine: str) -> Check:
    advice = (
        "run `observatory calibrate` on a quiet machine; until then, only changes of 5 % or more "
        "count"
    )
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


def _sentinel(results: Path, machine: str) -> Check:
    """The last look at fixed work, and what of the machine is another than at the one before."""
    own = [
        one for one in looks(sentinels.readable(results)) if one.sentinel.machine.machine == machine
    ]
    if not own:
        advice = (
            "run `observatory sentinel` each night, to tell a changed machine from changed code"
        )
        return Check(
            "sentinel", "fine", f"{results} has no times of fixed work on {machine}; {advice}"
        )
    last = own[-1]
    because = changed(last)
    told = f"{verdict(last)} ({last.sentinel.taken_at:%Y-%m-%d})" + (because and f": {because}")
    if not last.machine_moved:
        return Check("sentinel", "fine", told)
    return Check(
        "sentinel", "attention", told, "do not trust the times of that night; its counts are right"
    )


def _sentence(findings: list[Check]) -> str:
    unfit = [one.subject for one in findings if one.state == "unfit"]
    careful = [one.subject for one in findings if one.state == "attention"]
    if unfit:
        return f"NOT FIT to measure: {', '.join(unfit)}."
    if careful:
        return f"Counts will be right here, but be careful with times: {', '.join(careful)}."
    return "Fit to measure."
