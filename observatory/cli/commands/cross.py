"""`observatory cross`: which of PyTensor, numba, Python and others changed a count."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from observatory.app.crossing import Asked
from observatory.app.crossing import cross as cross_axes
from observatory.app.session import TIMEOUT, Session
from observatory.app.wanted import wanted_named
from observatory.cli import options
from observatory.cli.output import Console, TerminalProgress, name_broken, say
from observatory.run.local import STATE
from observatory.run.sources import commits_between
from observatory.store.journal.models import SEARCH
from observatory.store.records.layout import ALERTS
from observatory.store.records.machine import this_machine
from observatory.text.crossings import told
from observatory.text.markdown import markdown
from observatory.text.terminal import blocks


def command(
    ends: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ALERT | GOOD BAD]",
            help="The id of an alert; or two subjects, e.g. 3.3.0 and 3.3.4, or refs (--repo).",
        ),
    ] = None,
    cell: options.SearchedCell = "",
    graph: options.SearchedGraphs = None,
    metric: options.SearchedMetric = "",
    repo: Annotated[
        Path | None,
        typer.Option(metavar="CLONE", help="A clone of PyTensor; GOOD and BAD are refs in it."),
    ] = None,
    along: Annotated[
        bool,
        typer.Option(
            "--along/--no-along",
            help="Then search the releases of the package that made the change.",
        ),
    ] = True,
    conditions: Annotated[
        bool,
        options.flag(
            "--conditions",
            "Also measure with another hash seed, CPU target, start method and so on.",
        ),
    ] = False,
    budget: options.SearchBudget = "",
    with_: options.With = None,
    python: options.Python = None,
    bad_python: Annotated[
        str | None,
        typer.Option(
            metavar="VERSION", help="Python of BAD, to compare two Pythons. Default: that of GOOD."
        ),
    ] = None,
    results: options.Results = Path("results"),
    machine: options.Machine = None,
    timeout: options.Timeout = TIMEOUT,
    state: options.State = STATE,
    json: options.Json = False,
    as_markdown: options.AsMarkdown = False,
) -> None:
    """Find which of PyTensor, numba, NumPy, Python and the other packages changed a count.

    The command measures GOOD with some of the packages of BAD, in as few combinations as possible.
    It says which packages make the change, alone or only together. Each value is measured only
    once: an interrupted search continues where it stopped. RESULTS keeps the values of whole cells
    and the result.
    """
    console = Console(stderr=json or as_markdown)
    session = Session(
        SEARCH, results, state, this_machine(machine), timeout,
        deadline=options.deadline(budget),
        progress=TerminalProgress(console),
    )  # fmt: skip
    name_broken(results, told_later=ALERTS if len(ends or ()) == 1 else "")
    wanted = wanted_named(results, ends or [], cell, metric, graphs=graph or (),
                          counted=not session.uncounted())  # fmt: skip
    texts = [wanted.good, wanted.bad]
    if repo is not None:
        texts = [commits_between(repo, ref)[0] for ref in texts]
    if bad_python is None:
        old, new = session.subjects.pair(texts, with_ or (), python)
    else:
        read = zip(texts, (python, bad_python), strict=True)
        old, new = (session.subjects.parse(text, with_ or (), one) for text, one in read)
    found = cross_axes(session, Asked(
        old, new, wanted.cell, wanted.metric, along, conditions, wanted.graphs, wanted.supposed
    ))  # fmt: skip
    if json:
        say(found.model_dump_json(by_alias=True))
    elif as_markdown:
        say("\n\n".join(map(markdown, told(found))))
    else:
        console.print(blocks(told(found)), soft_wrap=True)
