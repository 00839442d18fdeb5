"""`observatory path`: what each step of a user of PyMC compiles, and how long it takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from observatory.app.walks import walks_in
from observatory.benchmarks.catalogue import MODELS, PATH, models_of, no_such
from observatory.cli import options
from observatory.cli.output import Console, naming_problems, render
from observatory.errors import SelectionError
from observatory.store.base.problems import Problem
from observatory.text.path import by_model, path_table, who_asked
from observatory.text.words import known_first


def command(
    subjects: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SUBJECT...",
            help="Subjects in the results, e.g. '3.3.8 pymc==6.4.0'. Default: all, "
            "the newest last.",
        ),
    ] = None,
    results: options.Results = Path("results"),
    model: Annotated[
        options.Words,
        options.only("--model", models_of(PATH[0]), "model", "Default: all."),
    ] = None,
    functions: Annotated[
        bool, options.flag("--functions", "Also name who asked for each PyTensor function.")
    ] = False,
    strict: options.Strict = False,
) -> None:
    """Show what each step from a PyMC model to its samples compiles, and how long it takes.

    Each step shows its functions compiled, cache misses and seconds, with an empty and with a
    filled cache. `observatory run --preset path --with pymc` measures them.
    """  # fmt: skip
    console = Console()
    problems: list[Problem] = []
    with naming_problems(problems, strict):
        found = by_model(walks_in(results, subjects or (), problems))
        if unmeasured := [one for one in model or () if one not in {name for name, *_ in found}]:
            there = known_first({name for name, *_ in found}, MODELS)
            raise SelectionError(f"of the path, {no_such('model', unmeasured[0], there)}")
    several = len({place for *_, place in found}) > 1
    for (name, backend, place), walks in found.items():
        if model and name not in model:
            continue
        console.print(f"{name}: {MODELS[name].meaning}" if name in MODELS else name, markup=False)
        console.print(
            render(path_table(name, backend, walks, place if several else ""), console.width)
        )
        for line in who_asked(name, walks) if functions else ():
            console.print(line, markup=False, highlight=False)
