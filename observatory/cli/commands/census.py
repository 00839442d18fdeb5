"""`observatory census`: what becomes of single graphs in a cache."""

from __future__ import annotations

from typing import Annotated

import typer

from observatory.app.census import BACKENDS, MODELS, PRESETS, census, graphs_like
from observatory.app.session import TIMEOUT, Session
from observatory.benchmarks.catalogue import MEMBERS
from observatory.cli import options
from observatory.cli.output import Console, TerminalProgress, show
from observatory.errors import SelectionError, severest
from observatory.run.local import STATE
from observatory.store.records.machine import this_machine
from observatory.text.census import Column, census_table


def command(
    subject: Annotated[
        list[str] | None,
        typer.Argument(help='What to check: newest (default), 3.3.7, "3.3.7 numba==0.66.0".'),
    ] = None,
    graph: Annotated[
        options.Words,
        options.several("A graph, or a pattern of names: differ.size.*", "NAME"),
    ] = None,
    list_: Annotated[
        bool, options.flag("--list", "Print the names of all graphs, and build none.")
    ] = False,
    backend: Annotated[
        options.Words,
        options.only("--backend", BACKENDS, "backend", "Default: NUMBA."),
    ] = None,
    seconds: Annotated[
        bool, options.flag("--seconds", "Also show how long each graph of one Op took to compile.")
    ] = False,
    flags: Annotated[str | None, typer.Option(help="PYTENSOR_FLAGS, e.g. floatX=float32.")] = None,
    with_: options.With = None,
    python: options.Python = None,
    timeout: options.Timeout = TIMEOUT,
    state: options.State = STATE,
) -> None:
    """Build single graphs, and show whether a cache stores and returns each.

    A graph of one Op is built with an empty cache, and again by a fresh process. Of a pair, the
    second graph is built with the cache that the first one filled. For other graphs, the command
    shows counts. Nothing is recorded.
    """  # fmt: skip
    console = Console()
    if list_:
        for name in (name for model in MODELS for name in MEMBERS[model]):
            console.print(name, markup=False, highlight=False)
        return
    if not graph:
        raise SelectionError(
            "say which graphs: --graph 'differ.size.*', for example. `observatory census --list` "
            f"names all of them, and `observatory run` builds and records them with --preset "
            f"{' or --preset '.join(PRESETS)}"
        )
    chosen = graphs_like(graph)
    session = Session(
        PRESETS[0], state, state, this_machine(None), timeout,
        progress=TerminalProgress(console),
    )  # fmt: skip
    subjects = session.subjects.parse_all(subject or ["newest"], with_ or (), python)
    found = list(census(session, subjects, chosen, backend or ["NUMBA"], flags))
    for name in dict.fromkeys(one.backend for one in found):
        columns = [
            Column(one.label, one.fates, one.compiling if seconds else {})
            for one in found
            if one.backend == name
        ]
        show(console, census_table(name, columns))
    for one in found:
        for failure in one.failures:
            console.print(f"{one.label}: {failure}", style="red", markup=False)
    raise typer.Exit(severest(one.exit_code for one in found))
