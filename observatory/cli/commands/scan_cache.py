"""`observatory scan-cache`: find functions in a cache that share a symbol."""

from __future__ import annotations

import json as json_module
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from observatory.cli import options
from observatory.cli.output import Console, grid, report_problems, say
from observatory.errors import Exit
from observatory.guard.scan.scanning import Report, Symbol, scan
from observatory.guard.scan.symbols import Class
from observatory.store.base.problems import Problem
from observatory.text.plain import shorten
from observatory.text.words import several

_STYLES: dict[Class, str] = {"collided": "bold red", "vulnerable": "red", "harmless": ""}
_LONGEST_NAME = 150


def command(
    directory: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            help="PyTensor's base_compiledir, NUMBA_CACHE_DIR, or a parent directory.",
        ),
    ],
    json: options.Json = False,
    everything: Annotated[
        bool, options.flag("--all", "Also list harmless copies of one function.")
    ] = False,
    strict: options.Strict = False,
) -> None:
    """Find functions in numba's cache that share a symbol, or could share one later.

    A process that loads two functions with the same symbol calls the first one for both, and
    returns wrong results. The command reads the files and executes nothing in them.
    """  # fmt: skip
    report = scan(directory)
    if json:
        say(json_module.dumps(asdict(report), indent=1))
    else:
        _print(report, everything)
    problems = [Problem(directory / broken.path, broken.reason) for broken in report.unreadable]
    shared = bool(report.collided_symbols or report.vulnerable_symbols)
    report_problems(problems, strict and not shared)
    if shared:
        raise typer.Exit(Exit.SYMBOLS)


def _print(report: Report, everything: bool) -> None:
    console = Console(highlight=False)
    shown = [symbol for symbol in report.symbols if everything or symbol.kind != "harmless"]
    if shown:
        console.print(_table(shown))
    console.print(sentence(report), markup=False, soft_wrap=True)


def _table(symbols: Sequence[Symbol]) -> Table:
    """A row for each class and name: functions of one name differ in their uids and types."""
    by_name: dict[tuple[Class, str], list[Symbol]] = {}
    for symbol in symbols:
        by_name.setdefault((symbol.kind, symbol.function), []).append(symbol)
    rows = (
        (
            Text(kind, style=_STYLES[kind]),
            str(len(found)),
            str(max(symbol.bodies for symbol in found)),
            str(len({file for symbol in found for file in symbol.files})),
            shorten(function, _LONGEST_NAME),
        )
        for (kind, function), found in by_name.items()
    )
    counts = ("symbols", "bodies", "files")
    return grid(("", *counts, "function"), rows, right=counts, wrapped=("function",))


def sentence(report: Report) -> str:
    """The counts in a sentence, and what they mean in another."""
    found = (
        f"{several(report.collided_symbols, 'symbol')} collided, "
        f"{report.vulnerable_symbols} vulnerable, {report.harmless_symbols} harmless, among "
        f"{several(report.functions, 'function')} in {several(report.data_files, 'data file')}"
    )
    if report.unreadable:
        found += f"; {several(len(report.unreadable), 'file')} could not be read"
    if report.collided_symbols:
        return f"{found}. A process that loads this cache may call the wrong function."
    if report.vulnerable_symbols:
        return f"{found}. Another process may give one of these symbols to another function."
    return f"{found}."
