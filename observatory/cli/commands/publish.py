"""`observatory publish`: add results to a branch of a repository, or to an object store."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from observatory.app.publication import Publication, lines, message, put_together
from observatory.cli import options
from observatory.cli.output import append_summary, report_problems, say
from observatory.errors import SelectionError
from observatory.objects.collection import Collection
from observatory.objects.copies import bring_up_to_date
from observatory.objects.sweeping import sweep
from observatory.run.branch import Branch, NotMovedError, Published
from observatory.run.placing import missing
from observatory.text.document import Points
from observatory.text.markdown import markdown
from observatory.text.words import several


def command(
    results: Annotated[
        list[Path] | None, typer.Argument(metavar="DIR...", help="Results directories to add.")
    ] = None,
    repo: Annotated[
        Path, typer.Option(metavar="CLONE", help="A local clone of the repository.")
    ] = Path(),
    branch: Annotated[
        str, typer.Option(help="The branch, which is created if it does not exist.")
    ] = "results",
    remote: Annotated[str, typer.Option(help="The remote for --push.")] = "origin",
    to: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="An object store instead of a branch: s3://BUCKET/PREFIX, gs://..., "
            "file:///DIRECTORY.",
        ),
    ] = None,
    push: Annotated[
        bool, options.flag("--push", "Fetch the branch first and push it afterwards.")
    ] = False,
    compact_after: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="Remove details that no page shows from journals without a sample in this time: "
            "36h, 30d, 8w, never.",
        ),
    ] = "30d",
    compact: Annotated[
        bool,
        options.flag(
            "--compact",
            "With --to: also compact journals that nothing is added to, and remove what was "
            "replaced more than a day ago.",
        ),
    ] = False,
    checkout: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Also check the branch out into this new directory. With --to, the directory may "
            "be an earlier one of that address, and only what it lacks is fetched.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, options.flag("--dry-run", "Print what would be added, and commit nothing.")
    ] = False,
    summary: options.Summary = None,
    strict: options.Strict = False,
) -> None:
    """Add results to a branch that holds only results, or to an object store.

    Journals are merged sample by sample. Publishing twice changes nothing, and several machines can
    publish at once. The command never overwrites a commit or what people wrote on the branch.
    """  # fmt: skip
    kept_for = None if compact_after == "never" else options.span(compact_after, "--compact-after")
    if not results and checkout is None and not compact:
        raise SelectionError("there is nothing to publish; give a results directory")
    parts = list(results or ())
    if to is None:
        if compact:
            raise SelectionError("--compact goes with --to; a branch keeps its history")
        if checkout is not None and checkout.exists() and any(checkout.iterdir()):
            raise SelectionError(f"--checkout {checkout} is not empty; give a new directory")
        target = Branch(repo, branch, remote if push else None)
        made, said = _to_branch(target, parts, kept_for, checkout, dry_run)
    else:
        if push or branch != "results":
            raise SelectionError("--to and --branch or --push exclude each other")
        made, said = _to_store(to, parts, kept_for, checkout, compact, dry_run)
    absent = missing([one.resolve().name for one in parts])
    said[:0] = [f"missing: {name}, a part of the plan; `run --shard` takes it" for name in absent]
    for line in said:
        say(line)
    if summary is not None:
        append_summary(
            summary, markdown(Points(tuple((line.replace("`", ""),) for line in said))) + "\n"
        )
    report_problems(made.united.problems, strict)


def _to_branch(
    target: Branch, parts: list[Path], kept_for: timedelta | None, checkout: Path | None,
    dry_run: bool,
) -> tuple[Publication, list[str]]:  # fmt: skip
    """Publish to a branch; what was changed, and what there is to say."""
    made = Publication()

    def edit(work: Path, others: Sequence[Path]) -> str:
        nonlocal made
        made = put_together(work, [*others, *parts], kept_for)
        return message(made)

    said: list[str] = []
    try:
        if parts:  # who only fetches may not write
            done = target.change(edit, dry_run)
            changed = done.before != done.after or dry_run
            said += [*(lines(made) if changed else made.notes), _outcome(target, done, dry_run)]
        if checkout is not None and not dry_run:
            found = target.checkout(checkout)
            where = f"{target.name} of {target.remote or target.repository.resolve()}"
            said.append(
                f"{checkout}: the files of {where}."
                if found
                else f"{where} does not exist yet; {checkout} is empty."
            )
    except NotMovedError as error:
        raise NotMovedError(f"{error}; nothing was published") from error
    return made, said


def _to_store(
    address: str, parts: list[Path], kept_for: timedelta | None, checkout: Path | None,
    compact: bool, dry_run: bool,
) -> tuple[Publication, list[str]]:  # fmt: skip
    """Publish to an object store; what was changed, and what there is to say."""
    store = Collection(address)
    made = Publication()

    def edit(work: Path, complete: bool) -> str:
        nonlocal made
        made = put_together(work, parts, kept_for, complete)
        return message(made)

    said: list[str] = []
    if parts or compact:
        done = store.change(edit, parts, whole=compact, dry_run=dry_run)
        changed = done.before != done.after or dry_run
        again = f" after {done.tries} attempts" if done.tries > 1 else ""
        said += lines(made) if changed else made.notes
        said.append(
            f"Nothing was written to {address}, because of --dry-run."
            if dry_run
            else f"version {done.after} of {address}{again}."
            if changed
            else f"{address} is up to date."
        )
    if compact and not dry_run:
        swept = sweep(store)
        said.append(
            f"removed: {several(swept.versions, 'version')} and {several(swept.objects, 'object')} "
            f"of {swept.size:,} bytes, which were replaced more than a day ago"
        )
    if checkout is not None and not dry_run:
        copied = bring_up_to_date(store, checkout)
        said.append(f"{checkout}: {copied.fetched} of {several(copied.of, 'file')} fetched.")
    return made, said


def _outcome(target: Branch, done: Published, dry_run: bool) -> str:
    where = f"{target.name} of {target.remote or target.repository.resolve()}"
    if dry_run:
        return f"Nothing was committed to {where}, because of --dry-run."
    if done.before == done.after:
        return f"{where} is up to date."
    again = f" after {done.tries} attempts" if done.tries > 1 else ""
    verb = "pushed" if target.remote else "committed"
    began = ", a new branch" if done.before is None else ""
    return f"{verb} {str(done.after)[:10]} to {where}{began}{again}."
