"""`observatory upgrade`: a subject on the cache that another one left."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from benchmarks.catalogue import Cell, backends_of, models_of
from observatory.cli import options
from observatory.cli.exit_codes import Exit
from observatory.cli.run import Machine, State, Timeout
from observatory.cli.tables import render
from observatory.decide import upgrades as deciding
from observatory.record import upgrades as record
from observatory.record.machine import this_machine
from observatory.record.sample import Sample
from observatory.record.subject import Subject
from observatory.record.upgrades import Side, Upgrade
from observatory.run.environments import Environment
from observatory.run.execute import Executor
from observatory.run.here import STATE, environment_of, subjects_here
from observatory.run.mutex import alone
from observatory.run.sources import SubjectError
from observatory.run.upgrade import SCENARIO, Chain, cells_of

app = typer.Typer()


@app.command("upgrade")
def upgrade_command(
    subject: Annotated[
        list[str],
        typer.Argument(
            help="At least two, each used on the cache of the one before: 3.2.3 3.2.4, a range "
            '3.2.3..3.3.7, "3.3.7 numba==0.66.0".'
        ),
    ],
    flags: Annotated[
        list[str] | None,
        typer.Option(
            help="PYTENSOR_FLAGS of the first, the second, ... subject, e.g. floatX=float32; "
            "repeatable, '' for none."
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(help=f"Repeatable: {', '.join(models_of(SCENARIO))}. Default: all."),
    ] = None,
    backend: Annotated[
        list[str] | None,
        typer.Option(help=f"Repeatable: {', '.join(backends_of(SCENARIO))}. Default: NUMBA."),
    ] = None,
    python: Annotated[
        list[str] | None,
        typer.Option(help="Python of all, or, repeated, of the first, the second, ..."),
    ] = None,
    results: options.Results = Path("results"),
    machine: Machine = None,
    timeout: Timeout = 600.0,
    state: State = STATE,
) -> None:
    """Let a subject use the cache that another one left, as an upgrade does.

    What it returns is compared with the reference and with what it returns from an empty cache: a
    value that differs is stale. Then the first one comes back: what has it lost? Each pair is
    recorded under RESULTS/upgrades.
    """  # fmt: skip
    console = Console()
    sides = _sides(subject, flags or [], python or [], state)
    cells = cells_of(model, backend or ["NUMBA"])
    run = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    caches = (state / "caches" / f"upgrade-{run}").absolute()
    caches.mkdir(parents=True)
    host = this_machine(machine)

    def took(name: str, sample: Sample) -> None:
        console.print(f"{name} {sample.cell.model} {sample.cell.backend}: {sample.status}",
                      markup=False, highlight=False)  # fmt: skip

    chain = Chain(cells, took)
    found: list[Upgrade] = []
    failed = False
    try:
        with alone(console.print):
            before: tuple[str, Executor, dict[Cell, Sample], Side] | None = None
            for number, (side, executor) in enumerate(
                (side, Executor(environment, caches, timeout, flags=side.flags))
                for side, environment in sides
            ):
                name = f"{number + 1}-{side.subject.label.replace(' ', '_').replace('/', '_')}"
                if before is None:
                    before = (name, executor, chain.first(name, executor), side)
                    continue
                turns, fresh = chain.turns(before[:3], (name, executor))
                parts = [deciding.part(t.cell, t.fill, t.use, t.again) for t in turns]
                failed = failed or any(part.failure for part in parts)
                found.append(
                    Upgrade(
                        base=before[3], head=side, machine=host, taken_at=datetime.now(UTC),
                        parts=parts,
                    )
                )  # fmt: skip
                record.save(results, found[-1])
                before = (name, executor, fresh, side)
    finally:
        shutil.rmtree(caches, ignore_errors=True)
    console.print(render(deciding.table(found)))
    if any(deciding.is_stale(one) or deciding.is_wrong(one) for one in found):
        raise typer.Exit(Exit.WRONG_RESULTS)
    if failed:
        raise typer.Exit(Exit.SAMPLE_FAILED)


def _sides(
    texts: list[str], flags: list[str], pythons: list[str], state: Path
) -> list[tuple[Side, Environment]]:
    """The subjects in their order, each with its flags and its environment. Raises SubjectError."""
    subjects = subjects_here(state)
    chosen: list[Subject] = []
    if len(pythons) <= 1:
        # Together, so that all get one Python where one fits all.
        chosen += subjects.parse_all(texts, (), next(iter(pythons), None))
    else:
        for text, python in zip_longest(texts, pythons):
            if text is None or python is None:
                raise SubjectError(
                    f"{len(texts)} subjects and {len(pythons)} times --python: "
                    "give one for all, or one for each"
                )
            chosen += subjects.parse_all([text], (), python)
    if len(chosen) < 2:
        raise SubjectError("an upgrade needs two subjects at least: 3.2.3 3.2.4")
    if len(flags) > len(chosen):
        raise SubjectError(f"{len(flags)} times --flags for {len(chosen)} subjects")
    sides = []
    for one, added in zip_longest(chosen, flags):
        environment = environment_of(one, subjects, state)
        side = Side(subject=one, versions=environment.versions, flags=added or None)
        sides.append((side, environment))
    return sides
