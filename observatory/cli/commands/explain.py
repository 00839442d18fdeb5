"""`observatory explain`: why the key of a function differs."""

from __future__ import annotations

import json as json_module
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from observatory.app.explained import Asked, Explained
from observatory.app.explained import explain as explain_keys
from observatory.app.session import Session
from observatory.benchmarks.catalogue import BACKENDS, MODELS, no_such
from observatory.cli import options
from observatory.cli.output import Console, TerminalProgress, say
from observatory.errors import SelectionError
from observatory.run.local import STATE
from observatory.run.sources import commits_between
from observatory.store.records.machine import this_machine
from observatory.text.keys import told
from observatory.text.markdown import markdown
from observatory.text.terminal import blocks

_NAMED = 8
"""Graphs that a refusal names."""


def command(
    name: Annotated[
        str,
        typer.Argument(
            help="A function as the ledger names it, e.g. 'outer graph'; * stands for any text."
        ),
    ],
    base: Annotated[
        str, typer.Argument(help="A release (3.3.6), a wheel, or a git ref (with --repo).")
    ],
    head: Annotated[
        str | None,
        typer.Argument(help="Another one. Without it, two processes of BASE are compared."),
    ] = None,
    model: Annotated[str, typer.Option(help="The model that the function belongs to.")] = "radon",
    graph: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="The graph of the model; required if the model is a list of graphs, such as ops.",
        ),
    ] = "",
    backend: Annotated[
        str, typer.Option(help="The backend that the graph is compiled for.")
    ] = "NUMBA",
    flags: Annotated[str, typer.Option(help="Further PYTENSOR_FLAGS, e.g. floatX=float32.")] = "",
    repo: Annotated[
        Path | None,
        typer.Option(metavar="CLONE", help="A clone of PyTensor; BASE and HEAD are refs in it."),
    ] = None,
    with_: options.With = None,
    python: options.Python = None,
    state: options.State = STATE,
    json: options.Json = False,
    as_markdown: options.AsMarkdown = False,
) -> None:
    """Explain why the key of a function differs between BASE and HEAD, or between processes.

    The command makes the keys in two processes of each subject and compares them part by part:
    types, properties, versions, constants, flags and inner graphs. Nothing is compiled, so this
    takes seconds once the environments exist. Nothing is measured or recorded.
    """  # fmt: skip
    for word, known, noun in ((model, MODELS, "model"), (backend, BACKENDS, "backend")):
        if word not in known:
            raise SelectionError(no_such(noun, word, known))
    members = MODELS[model].members
    if graph and graph not in members:
        raise SelectionError(no_such("graph", graph, members))
    if members and not graph and "build" not in MODELS[model].families:
        first = ", ".join(members[:_NAMED])
        raise SelectionError(
            f"the model {model} has {len(members)} graphs; choose one with --graph: {first}, ..."
        )
    texts = [base, *([head] if head else [])]
    if repo is not None:
        texts = [commits_between(repo, ref)[0] for ref in texts]
    console = Console(stderr=json or as_markdown)
    session = Session(
        "explain", state, state, this_machine(None), progress=TerminalProgress(console)
    )
    asked = Asked(name, model, graph, backend, flags)
    found = explain_keys(session, asked, texts[0], (*texts[1:], None)[0], with_ or (), python)
    if json:
        say(json_module.dumps(_as_json(found)))
        return
    if found.warning:
        console.print(found.warning, style="yellow", markup=False, highlight=False, soft_wrap=True)
    head_label = found.head.label if found.head else None
    story = list(told(found.base.label, head_label, found.between, dict(found.within)))
    if as_markdown:
        say("\n\n".join(map(markdown, story)))
    else:
        console.print(blocks(story))


def _as_json(found: Explained) -> dict[str, object]:
    return {
        "asked": asdict(found.asked),
        "base": found.base.label,
        "head": found.head.label if found.head else None,
        "between": [asdict(one) for one in found.between],
        "within": {label: [asdict(one) for one in own] for label, own in found.within.items()},
        "warning": found.warning or None,
    }
