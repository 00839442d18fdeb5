"""`observatory growth`: how builds grow with the size of their graphs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from observatory.analyze.growth.families import by_subject
from observatory.app.growth import Grown, growth
from observatory.cli import options
from observatory.cli.output import Console, naming_problems, render
from observatory.store.base.problems import Problem
from observatory.text.growth import growth_tables


def command(
    subjects: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SUBJECT...",
            help="Subjects in the results, e.g. 3.3.7. Default: all that have growth results.",
        ),
    ] = None,
    results: options.Results = Path("results"),
    backend: Annotated[str | None, typer.Option(help="Only this backend.")] = None,
    strict: options.Strict = False,
) -> None:
    """Show how the work, time and memory of a build grow with the size of the graph.

    The tables show the power of the size with which each grows. `observatory run --preset growth`
    measures it. Notes name cliffs: sizes at which the cost of a build jumps.
    """  # fmt: skip
    problems: list[Problem] = []
    with naming_problems(problems, strict):
        found = growth(results, subjects or (), backend, problems)
        _show(found)


def _show(found: Sequence[Grown]) -> None:
    console = Console()
    places = dict.fromkeys((one.cell.backend, one.place) for one in found)
    several = len({place for _, place in places}) > 1
    for backend, place in places:
        own = (one for one in found if (one.cell.backend, one.place) == (backend, place))
        grown = by_subject((one.label, one.families) for one in own)
        for table in growth_tables(backend, grown, place if several else ""):
            console.print(render(table, console.width))
