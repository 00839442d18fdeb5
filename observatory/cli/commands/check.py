"""`observatory check`: a user's own environment, with a copy of their cache."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import Annotated

import typer

from observatory.app.check import Checked, check
from observatory.app.passports import passport_of
from observatory.app.session import TIMEOUT
from observatory.benchmarks.catalogue import models_of
from observatory.cli import options
from observatory.cli.output import Console, TerminalProgress, say, show
from observatory.errors import Exit
from observatory.run.local import STATE
from observatory.run.readers import base_compiledir, python_here
from observatory.run.upgrade import SCENARIO
from observatory.text.guard import check_sentence, own_cache_table, sentence, sibling_table


def command(
    directory: Annotated[
        Path | None,
        typer.Argument(
            metavar="DIR",
            help="base_compiledir of the cache. Default: PyTensor's own choice.",
            show_default=False,
        ),
    ] = None,
    python: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="The Python to check, by its path. Default: the one `python` starts.",
        ),
    ] = None,
    model: Annotated[
        options.Words,
        options.only("--model", models_of(SCENARIO), "model", "Siblings are then not checked."),
    ] = None,
    timeout: options.Timeout = TIMEOUT,
    state: options.State = STATE,
    json: options.Json = False,
) -> None:
    """Check your own environment with a copy of your cache.

    It builds graphs on a copy of the cache and compares each value with its reference and with that
    from an empty cache; sibling processes then share the copy. Neither the environment nor the
    cache is changed. It takes about five minutes.
    """  # fmt: skip
    reader = python_here(python)
    here = passport_of(reader)
    cache = directory or base_compiledir()
    console = Console(stderr=json)
    found = check(
        here, Path(reader), cache if cache.is_dir() else None, state, timeout,
        model, TerminalProgress(console),
    )  # fmt: skip
    label = f"PyTensor {here.pytensor} with a copy of {cache}"
    if not cache.is_dir():
        label = f"PyTensor {here.pytensor} with an empty cache ({cache} does not exist)"
    if json:
        say(json_module.dumps(_json(found)))
    else:
        show(console, own_cache_table(label, found.parts))
        if found.findings:
            show(console, sibling_table(label, found.findings))
            console.print(sentence("Siblings", found.findings), markup=False, highlight=False)
        console.print(check_sentence(found.parts), markup=False, highlight=False)
    if found.status != Exit.OK:
        raise typer.Exit(found.status)


def _json(found: Checked) -> dict[str, object]:
    return {
        "status": found.status.meaning,
        "graphs": [each.model_dump() for each in found.parts],
        "siblings": [{"cell": str(one.cell), "fate": one.fate} for one in found.findings],
    }
