"""`observatory bisect`: which release or commit changed a metric."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import Annotated

import typer

from observatory.app.cluster import on_cluster
from observatory.app.searching import Searcher
from observatory.app.session import TIMEOUT, Session
from observatory.app.unattended import search_open
from observatory.app.wanted import wanted_named
from observatory.cli import options
from observatory.cli.output import Console, TerminalProgress, name_broken, say
from observatory.errors import SelectionError
from observatory.run.git import Git
from observatory.run.local import STATE
from observatory.store.journal.models import SEARCH
from observatory.store.records.layout import ALERTS
from observatory.store.records.machine import this_machine
from observatory.store.records.searches import Searched
from observatory.text.crossings import told as crossing_told
from observatory.text.markdown import markdown
from observatory.text.searches import told
from observatory.text.terminal import blocks


def command(
    ends: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ALERT | GOOD BAD]",
            help="The id of an alert; or two releases, or two refs of the clone (--repo).",
        ),
    ] = None,
    open_: Annotated[
        bool,
        options.flag("--open", "Search for each open alert that has no culprit, counts first."),
    ] = False,
    cell: options.SearchedCell = "",
    graph: options.SearchedGraphs = None,
    metric: options.SearchedMetric = "",
    repo: Annotated[
        Path | None,
        typer.Option(
            metavar="CLONE",
            help="A clone of PyTensor: between two releases, continue with its commits.",
        ),
    ] = None,
    confirm: Annotated[
        bool,
        typer.Option("--confirm/--no-confirm", help="Measure both sides of each change again."),
    ] = True,
    budget: options.SearchBudget = "",
    with_: options.With = None,
    python: options.Python = None,
    results: options.Results = Path("results"),
    machine: options.Machine = None,
    timeout: options.Timeout = TIMEOUT,
    state: options.State = STATE,
    cluster: options.Cluster = None,
    json: options.Json = False,
    as_markdown: options.AsMarkdown = False,
) -> None:
    """Find which release or commit changed a count, an amount of work, or a time.

    Each value is measured only once: an interrupted search continues where it stopped. RESULTS
    keeps the values of whole cells and the result of the search. The command finds several changes,
    not only the last one. It then measures both sides of a change again, in new environments with
    equal dependencies, and blames only a change that it sees again. It searches for a time only if
    no work explains it. The page of the alert shows the result.
    """  # fmt: skip
    console = Console(stderr=json or as_markdown)
    session = Session(
        SEARCH, results, state, this_machine(machine), timeout,
        deadline=options.deadline(budget),
        progress=TerminalProgress(console),
    )  # fmt: skip
    if open_ and (ends or cell or graph or metric):
        raise SelectionError(
            "--open searches for all open alerts: name no subjects, --cell, --graph or --metric "
            "with it"
        )
    name_broken(results, told_later=ALERTS if open_ or len(ends or ()) == 1 else "")
    if repo is not None:
        Git(repo)  # a mistake is told before releases are measured
    with on_cluster(session, cluster) as own:
        searcher = Searcher(own, repo, confirm, with_ or (), python)
        if open_:
            found = list(search_open(searcher))
        else:
            named = wanted_named(results, ends or [], cell, metric, "; or --open", graph or (),
                                 counted=not own.uncounted())  # fmt: skip
            found = list(searcher.search(named))
    if json:
        say(json_module.dumps([one.model_dump(mode="json", by_alias=True) for one in found]))
        return
    for one in found:
        story = list(told(one) if isinstance(one, Searched) else crossing_told(one))
        if as_markdown:
            say("\n\n".join(map(markdown, story)), end="\n\n")
        else:
            console.print(blocks(story), soft_wrap=True)
