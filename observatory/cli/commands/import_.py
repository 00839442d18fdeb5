"""`observatory import`: import results of pytest-benchmark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import typer
from packaging.version import InvalidVersion, Version

from observatory.cli import options
from observatory.cli.output import Console, report_problems
from observatory.errors import Exit, SelectionError
from observatory.store.asv.imported import Done, Options, import_file
from observatory.store.base.files import files_below
from observatory.store.base.moments import EARLIEST, LATEST
from observatory.store.base.problems import RecordError
from observatory.text.words import first_of, several

_NAMED = 10
"""Names of further values that a warning lists, at most."""


def command(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE.json...",
            help="Files that `pytest --benchmark-json` or `--benchmark-save` wrote, or directories "
            "of them such as .benchmarks.",
        ),
    ],
    results: options.Results = Path("results"),
    machine: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Name of the machine. Default: the host name in the file."
        ),
    ] = None,
    commit: Annotated[
        str | None, typer.Option(help="Hash of the measured commit. Default: that in the file.")
    ] = None,
    subject: Annotated[
        str | None,
        typer.Option(
            help="Name of what was measured in place of a commit, e.g. the release 3.3.7. Default: "
            "the release in the file's name if the file has no commit."
        ),
    ] = None,
    date: Annotated[
        datetime | None,
        typer.Option(
            metavar="DATE",
            help="Day of the release, e.g. 2026-12-31; subjects are ordered by it. Default: the "
            "day of the commit, or else that of the measurement.",
            formats=["%Y-%m-%d"],
        ),
    ] = None,
    label: Annotated[
        str | None,
        typer.Option(help="Name that distinguishes runs of the same subject and machine."),
    ] = None,
    extra: Annotated[
        list[str] | None, options.several("Also import this number from extra_info", "NAME")
    ] = None,
    strict: options.Strict = False,
) -> None:
    """Import files of pytest-benchmark as asv results, which asv and the observatory read.

    Each file is one subject: its commit, or a release if the file names no commit. Importing a
    file again changes nothing. A file that cannot be imported does not stop the others.
    """  # fmt: skip
    console = Console(highlight=False, soft_wrap=True)
    day = None if date is None else date.replace(tzinfo=UTC)
    if day is not None and not EARLIEST <= day < LATEST:
        raise SelectionError(
            f"--date {day:%Y-%m-%d} is not a day from {EARLIEST:%Y} to {LATEST.year - 1}"
        )
    chosen = Options(machine, commit, label, tuple(extra or ()), subject, day)
    listed = list(_listed(files))
    imported: dict[Path, Done] = {}
    failed: list[RecordError] = []
    broken = False
    for file in listed:
        try:
            done = import_file(file, results, chosen)
        except RecordError as error:
            if len(listed) == 1:
                raise
            failed.append(error)
            continue
        _report(console, done)
        if done.replaced and (earlier := imported.get(done.path)):
            _warn(console, _replaced(done, file, earlier))
        imported.setdefault(done.path, done)
        report_problems(done.problems, strict=False)
        broken = broken or bool(done.problems)
    if day is None and (order := _out_of_order(list(imported.values()))):
        _warn(console, order)
    for each in failed:
        Console(stderr=True, soft_wrap=True).print(
            f"not imported: {each}", style="red", markup=False, highlight=False
        )
    if failed:
        raise typer.Exit(failed[0].exit_code)
    if broken and strict:
        raise typer.Exit(Exit.UNREADABLE)


def _listed(files: Sequence[Path]) -> Iterator[Path]:
    """The files, and those in the directories among them, by name."""
    for file in files:
        if not file.is_dir():
            yield file
        elif own := files_below(file, "*.json"):
            yield from own
        else:
            raise SelectionError(f"there is no file *.json in {file}")


def _report(console: Console, done: Done) -> None:
    saved = done.saved
    where = f"into {done.path}" if done.benchmarks else "nothing was written"
    console.print(f"{several(done.benchmarks, 'benchmark')}: {where}", markup=False)
    if saved.dirty and done.subject == saved.commit:
        _warn(
            console,
            "They were measured with uncommitted changes, and are stored under the last commit.",
        )
    if saved.left_out:
        left = first_of(sorted(map(repr, saved.left_out)), _NAMED)
        console.print(
            f"Not imported from extra_info: {left}. Use --extra NAME.",
            markup=False,
        )


def _warn(console: Console, sentence: str) -> None:
    console.print(sentence, style="yellow", markup=False)


def _replaced(done: Done, file: Path, earlier: Done) -> str:
    return (
        f"{done.replaced} of them replace what was just imported: {file} is of "
        f"{earlier.subject}, too. Give each release its own --subject, or each run a --label."
    )


def _out_of_order(imported: Sequence[Done]) -> str:
    """What to do if pages will show releases in another order than that of their numbers."""
    releases = []
    for done in imported:
        try:
            releases.append((Version(done.subject), done))
        except InvalidVersion:
            continue  # a commit, or another name
    releases.sort(key=lambda pair: pair[0])
    for (_, older), (_, newer) in pairwise(releases):
        if newer.date < older.date:
            return (
                f"{newer.subject} was measured before {older.subject}, so tables and pages show it "
                "first. Import each with the --date of its release to put them in order."
            )
    return ""
