"""`observatory explore`: generate pairs of graphs, and keep those that a cache confuses."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from observatory.app.exploration import KEPT, explore
from observatory.app.explored import Explored
from observatory.app.session import TIMEOUT
from observatory.cli import options
from observatory.cli.output import Console, TerminalProgress, grid
from observatory.run.local import STATE
from observatory.text import units
from observatory.text.words import several


def command(
    subject: Annotated[
        str, typer.Argument(help='What to explore: newest, 3.3.8, "3.3.8 numba==0.66.0", a wheel.')
    ] = "newest",
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", help="The seed of the pairs. Default: a new one.", min=0),
    ] = None,
    budget: Annotated[
        str,
        typer.Option(
            metavar="TIME", help="No batch of pairs begins after this time: 90s, 10m, 1h."
        ),
    ] = "10m",
    pairs: Annotated[
        int | None,
        typer.Option(metavar="N", help="No batch begins after this number of pairs.", min=1),
    ] = None,
    backend: Annotated[str, typer.Option(help="The backend, NUMBA or C_VM for example.")] = "NUMBA",
    keep: Annotated[
        Path, typer.Option(metavar="DIR", help="Directory in which counterexamples are saved.")
    ] = KEPT,
    with_: options.With = None,
    python: options.Python = None,
    results: options.Results = Path("results"),
    timeout: options.Timeout = TIMEOUT,
    state: options.State = STATE,
) -> None:
    """Generate pairs of small graphs, and keep every pair that a cache confuses.

    The graphs of a pair are equal or differ in one place. The command makes a counterexample
    smaller and saves it in the directory of --keep; from then on it is a pair of the model keys.
    RESULTS gets a record.
    """  # fmt: skip
    console = Console(highlight=False, soft_wrap=True)
    found = explore(
        subject, backend=backend, seed=seed, budget=options.seconds(budget), pairs=pairs,
        keep=keep, results=results, requirements=with_ or (), python=python, timeout=timeout,
        state=state, progress=TerminalProgress(console),
    )  # fmt: skip
    _print(found, console)
    if found.exit_code:
        raise typer.Exit(found.exit_code)


def _print(found: Explored, console: Console) -> None:
    rows = [(kind, str(count)) for kind, count in sorted(found.tried.items())]
    if rows:
        console.print(grid(("the graphs differ in, or are", "pairs"), rows, right=("pairs",)))
    rate = 60 * found.pairs / found.cpu_seconds if found.cpu_seconds else 0.0
    took = f"{units.seconds(found.seconds)}, {units.seconds(found.cpu_seconds)} of CPU"
    console.print(
        f"{found.subject}, {found.backend}, seed {found.seed}: "
        f"{several(found.pairs, 'pair')} in {took} ({rate:.1f} pairs a minute of CPU), "
        f"{found.absent} not judged, {several(len(found.found), 'counterexample')}, "
        f"{len(found.new)} of them new.",
        markup=False,
    )
    for one in found.found:
        state = "known" if one.known else "new"
        size = "" if one.shrunk else ", not made smaller"
        console.print(f"{one.name} ({state}{size}): {one.finding}. {one.note}", markup=False)
