"""`observatory cache`: what a cache contains, who can load it, what may be deleted."""

from __future__ import annotations

import json as json_module
import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from observatory.app.caches import (
    delete_from,
    inspected,
)
from observatory.cli import options
from observatory.cli.output import Console, grid, say
from observatory.errors import Exit
from observatory.guard.caches.entries import STATES, Origin, Reader
from observatory.guard.caches.judging import Finding, Group, Report
from observatory.run.readers import base_compiledir, python_of_shell
from observatory.text.plain import shorten
from observatory.text.units import size
from observatory.text.words import listed, several

_STYLES = {"collided": "bold red", "vulnerable": "red", "broken": "red", "usable": "green"}
_UNUSUAL = ("new", "old")
"""States of whole rows whose meaning is told beside them."""
_MOST_FINDINGS = 20
_LONGEST = 100


def command(
    directory: Annotated[
        Path | None,
        typer.Argument(
            metavar="DIR",
            help="PyTensor's base_compiledir or NUMBA_CACHE_DIR. Default: PyTensor's own choice.",
            show_default=False,
        ),
    ] = None,
    python: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH",
            help="A Python that uses this cache, by its path; repeatable. "
            "Default: the one that `python` starts.",
        ),
    ] = None,
    json: options.Json = False,
    files: Annotated[
        bool, options.flag("--files", "Print only the paths that may be deleted, each on a line.")
    ] = False,
    delete: Annotated[
        bool, options.flag("--delete", "Delete what may be deleted, except what a process uses.")
    ] = False,
) -> None:
    """Show what a cache contains, what can load it, and what may be deleted.

    It is safe to delete an entry: what is needed is compiled again. The command reads the files
    and executes nothing in them. Without --delete it changes nothing.
    """  # fmt: skip
    where = directory or base_compiledir()
    report = inspected(where, python or [one for one in [python_of_shell()] if one])
    if json:
        say(json_module.dumps(asdict(report), indent=1))
    elif files:
        for path in report.deletable:
            say(where / path)
    else:
        _print(report, directory, python or [])
    if delete:
        _delete(report)
    elif report.has("collided", "vulnerable"):
        raise typer.Exit(Exit.SYMBOLS)


def _print(report: Report, directory: Path | None, pythons: Sequence[str]) -> None:
    console = Console(highlight=False)
    console.print(
        f"{report.directory}: {several(report.entries, 'entry')}, {size(report.size)}",
        markup=False, soft_wrap=True,
    )  # fmt: skip
    for reader in report.readers:
        console.print(_reader(reader), markup=False, soft_wrap=True)
    rows = (_row(group) for group in report.groups)
    header = ("compiled for", "entries", "size", "written", "state")
    console.print(grid(header, rows, right=("entries", "size"), wrapped=("compiled for", "state")))
    if report.findings:
        _print_findings(console, report.findings)
    for line in conclusion(report, directory, pythons):
        console.print(line, markup=False, soft_wrap=True)


def _reader(reader: Reader) -> str:
    found = [
        f"{package} {version}"
        for package, version in (("PyTensor", reader.pytensor), ("numba", reader.numba))
        if version
    ]
    return f"{reader.executable}: {', '.join([f'Python {reader.python}', *found])}"


def _row(group: Group) -> tuple[str | Text, ...]:
    days = sorted({_day(group.oldest), _day(group.newest)})
    reason = group.reason or STATES[group.state].meaning * (group.state in _UNUSUAL)
    return (
        _origin(group.origin), str(group.entries), size(group.size), " to ".join(days),
        Text.assemble(
            (group.state, _STYLES.get(group.state, "")), f": {reason}" * bool(reason)
        ),
    )  # fmt: skip


def _origin(origin: Origin) -> str:
    words = [
        "C" if origin.kind == "C" else f"numba {origin.numba}".strip(),
        f"Python {origin.python}" if origin.python else "",
        origin.processor,
        f"NumPy ABI {origin.numpy_abi}" if origin.numpy_abi else "",
    ]
    return ", ".join(filter(None, words))


def _day(seconds: float) -> str:
    """The day of a file's time; a file system may hold any time."""
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d}"
    except (ValueError, OverflowError, OSError):
        return "unknown"


def _print_findings(console: Console, findings: Sequence[Finding]) -> None:
    rows = (
        (
            Text(finding.state, style=_STYLES.get(finding.state, "")),
            shorten(finding.paths[0] if finding.paths else finding.name, _LONGEST),
            shorten(finding.reason or STATES[finding.state].meaning, _LONGEST),
        )
        for finding in findings[:_MOST_FINDINGS]
    )
    console.print(grid(("state", "file", "reason"), rows, wrapped=("file", "reason")))
    if len(findings) > _MOST_FINDINGS:
        console.print(f"{len(findings) - _MOST_FINDINGS} more; --json lists all.")


def conclusion(report: Report, directory: Path | None, pythons: Sequence[str]) -> list[str]:
    """What may be deleted, why, and by which command."""
    lines = []
    if not report.readers and report.has("unknown"):
        lines.append(
            "No Python with numba or PyTensor was asked, so no entry is called usable: "
            "name the one that uses this cache with --python."
        )
    if not report.deletable:
        return [*lines, "Nothing needs to be deleted."]
    numbers = Counter(one.state for one in report.findings if one.paths)
    listed_apart = {one.state for one in report.findings}
    for group in report.groups:
        if group.state not in listed_apart:
            numbers[group.state] += group.entries
    numbers = Counter({state: n for state, n in numbers.items() if STATES[state].deletable})
    reasons = listed([f"{number} {state}" for state, number in numbers.items()])
    again = ["observatory", "cache", *([str(directory)] if directory else [])]
    again += [word for python in pythons for word in ("--python", python)]
    whole = f"{several(len(report.deletable), 'path')} ({size(report.deletable_size)})"
    return [
        *lines,
        f"{whole} can be deleted{f': {reasons}' if reasons else ''}.",
        f"To delete them: {shlex.join([*again, '--delete'])}",
    ]


def _delete(report: Report) -> None:
    done = delete_from(report)
    errors = Console(stderr=True, highlight=False)
    for path, why in done.kept:
        errors.print(f"{path} was kept: {why}", markup=False, soft_wrap=True)
    errors.print(f"{several(len(done.paths), 'path')} ({size(done.size)}) deleted")
