"""`observatory init`: write the GitHub workflows of a project."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from observatory.app.adopting import BACKUP, Change, changes, uncommitted, write
from observatory.app.adoption_cost import costs
from observatory.benchmarks.catalogue import no_such
from observatory.cli import options
from observatory.cli.output import say
from observatory.errors import SelectionError
from observatory.run.adoption import STORE, Project, look
from observatory.run.adoption_files import LABEL, PARTS, files_for, pages_of, parts_for
from observatory.run.git import Git
from observatory.run.tool_version import Tool, this_tool
from observatory.store.base.problems import RecordUsageError
from observatory.text.words import several


def command(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="A checkout of PyTensor, or of any project.")
    ] = Path(),
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PART",
            help=f"Only this part; repeatable, or separated by commas: {', '.join(PARTS)}.",
        ),
    ] = None,
    observatory: Annotated[
        str | None,
        typer.Option(
            metavar="OWNER/NAME",
            help="GitHub repository of the observatory. Default: the one that its package names.",
        ),
    ] = None,
    commit: Annotated[
        str | None,
        typer.Option(help="Full hash of its commit. Default: the one that is installed."),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Keep the results in this object store, s3://BUCKET/PREFIX, instead of a branch. "
            "Default: as before; '' for a branch.",
        ),
    ] = None,
    force: Annotated[
        bool,
        options.flag(
            "--force", f"Replace files that others wrote or changed, and keep them as NAME{BACKUP}."
        ),
    ] = False,
    dry_run: Annotated[
        bool, options.flag("--dry-run", "Print what would change, as a diff, and write nothing.")
    ] = False,
) -> None:
    """Write a GitHub workflow that measures, compares and shows a project.

    The command finds asv suites and tests that use pytest-benchmark, which need no change. In a
    checkout of PyTensor it also sets up nights and the comparison of pull requests. Run it again to
    update the files.
    """  # fmt: skip
    wanted = _words(only)
    project = look(directory)
    tool = this_tool(observatory, commit, Git(project.root))
    without = parts_for(project)
    parts = [part for part, why in without.items() if not why]
    if wanted:
        parts = _asked(wanted, project, without)
    for line in _found(project, without, parts, bool(wanted)):
        say(line)
    if not parts:
        raise RecordUsageError(
            f"{project.root} is not PyTensor and has neither an asv.conf.json nor a test that uses "
            "pytest-benchmark; add benchmarks first"
        )
    to = project.store if store is None else store
    if to and not STORE.fullmatch(to):
        raise SelectionError(f"--store {to!r} is no address; write s3://BUCKET/PREFIX")
    made = changes(project, files_for(project, tool, parts, to))
    if dry_run:
        for line in (line for change in made for line in change.difference()):
            say(line)
    refused = [change.refused for change in made if change.refused]
    if refused and not force:
        raise RecordUsageError(
            f"{' '.join(refused)} Nothing was written. --force replaces it and keeps the old "
            f"content as NAME{BACKUP}; --dry-run shows the difference."
        )
    if not dry_run:
        _write(project.root, made)
    for line in (*_next(project, tool, parts, made, to), *_costs(parts)):
        say(line)


def _words(only: Sequence[str] | None) -> list[str]:
    """The words of --only. Raises SelectionError for an unknown one."""
    words = [word.strip() for text in only or () for word in text.split(",") if word.strip()]
    for word in words:
        if word not in PARTS:
            raise SelectionError(no_such("part", word, PARTS))
    return words


def _asked(wanted: Sequence[str], project: Project, without: dict[str, str]) -> list[str]:
    """The parts that a person names. Raises RecordUsageError for one that is impossible."""
    for part in wanted:
        # Two proposals of a bound do no harm, and a person has asked for the second.
        doubled = part == "numba-bound" and project.bounds_numba and project.is_pytensor
        if without[part] and not doubled:
            raise RecordUsageError(f"--only {part} is impossible: {without[part]}")
    return [part for part in PARTS if part in wanted]


def _found(
    project: Project, without: dict[str, str], parts: Sequence[str], asked: bool
) -> Iterator[str]:
    kind = "a checkout of PyTensor" if project.is_pytensor else project.name or "a project"
    yield f"{project.root}: {kind}, default branch {project.branch}"
    if project.tests is not None:
        yield f"found: pytest-benchmark in {project.tests}"
    if project.asv is not None:
        yield f"found: asv.conf.json in {project.asv}, results in {project.asv_results}"
    for part in parts:
        yield f"{part}: {PARTS[part]}"
    if "numba-bound" not in parts and project.bumps_numba and not asked:
        yield f"numba-bound: left out, because {without['numba-bound']}"
    if project.site is not None and {"nightly", "benchmarks"} & {*parts}:
        pages, link = pages_of(project)
        name, _, path = pages.partition(":")
        below = f"below {path}/ on the branch {name}" if path else f"on the branch {name}"
        yield (
            f"{project.site.said_by} publishes a site on GitHub Pages. It stays as it is: the "
            f"pages are committed {below}" + (f", which is {link}" if link else "")
        )


def _write(root: Path, made: Sequence[Change]) -> None:
    others = uncommitted(root)
    for change in made:
        lines = several(change.after.count(b"\n"), "line")
        if change.state == "up to date":
            say(f"{change.path}: up to date")
            continue
        kept = write(root, change)
        verb = "written" if change.state == "new" else "updated" if kept is None else "replaced"
        more = "" if kept is None else f"; the old content is in {kept.name}"
        say(f"{change.path}: {verb}, {lines}{more}")
    if others:
        names = " ".join(str(change.path) for change in made)
        say(f"The checkout has other changes that are not committed; add these alone: {names}")


def _next(
    project: Project, tool: Tool, parts: Sequence[str], made: Sequence[Change], store: str
) -> Iterator[str]:
    yield "Next:"
    if store and {"nightly", "benchmarks"} & {*parts}:
        yield (
            f"- GitHub, Settings, Secrets and variables: OBSERVATORY_STORE_KEY and "
            f"OBSERVATORY_STORE_SECRET, which may read and write {store}; if the server is not "
            "that of AWS, also the variable OBSERVATORY_STORE_ENDPOINT"
        )
    if project.older:
        yield f"- delete what an earlier version wrote: {' '.join(project.older)}"
    if {"nightly", "benchmarks"} & {*parts} and project.site is None:
        yield '- GitHub, Settings, Pages: choose "GitHub Actions" as the source'
    yield (
        "- if this is a fork: enable Actions, then each scheduled workflow on the tab Actions, and "
        "Issues in Settings, which alerts need; GitHub turns them off in forks"
    )
    if "compare" in parts:
        yield f"- create the label {LABEL}; everyone who may set it can request a comparison"
    if "benchmarks" in parts:
        yield '- read the lines marked "YOURS", which install what the benchmarks need'
    if not tool.release:
        yield (
            f"- the files name commit {tool.commit[:10]}, which is not a release: Dependabot and "
            "Renovate leave it alone until the files name a release"
        )
    yield f"- commit {several(len(made), 'file')} in a pull request"


def _costs(parts: Sequence[str]) -> Iterator[str]:
    told = costs(parts)
    if told:
        yield "On GitHub's runners this takes about:"
        yield from (f"- {line}" for line in told)
