"""`observatory publish`: add results to a branch of a repository."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from observatory.app.publication import Publication, lines, message, put_together
from observatory.cli import options
from observatory.cli.output import report_problems
from observatory.errors import SelectionError
from observatory.run.branch import Branch, NotMovedError, Published
from observatory.run.placing import missing


def command(
    results: Annotated[
        list[Path] | None, typer.Argument(help="Results directories to add.")
    ] = None,
    repo: Annotated[Path, typer.Option(help="A local clone of the repository.")] = Path(),
    branch: Annotated[
        str, typer.Option(help="The branch, which is created if it does not exist.")
    ] = "results",
    remote: Annotated[str, typer.Option(help="The remote for --push.")] = "origin",
    push: Annotated[
        bool, options.flag("--push", "Fetch the branch first and push it afterwards.")
    ] = False,
    compact_after: Annotated[
        str,
        typer.Option(
            help="Remove details that no page shows from journals without a sample in this time: "
            "36h, 30d, 8w, never."
        ),
    ] = "30d",
    checkout: Annotated[
        Path | None, typer.Option(help="Also check the branch out into this new directory.")
    ] = None,
    dry_run: Annotated[
        bool, options.flag("--dry-run", "Print what would be added, and commit nothing.")
    ] = False,
    strict: options.Strict = False,
) -> None:
    """Add results to a branch that holds only results.

    Journals are merged sample by sample. Publishing twice changes nothing, and several machines can
    publish at once. The command never overwrites a commit or what people wrote on the branch.
    """  # fmt: skip
    kept_for = None if compact_after == "never" else options.span(compact_after, "--compact-after")
    if not results and checkout is None:
        raise SelectionError("there is nothing to publish; give a results directory")
    if checkout is not None and checkout.exists() and any(checkout.iterdir()):
        raise SelectionError(f"--checkout {checkout} is not empty; give a new directory")
    target = Branch(repo, branch, remote if push else None)
    made = Publication()

    def edit(work: Path, others: Sequence[Path]) -> str:
        nonlocal made
        made = put_together(work, [*others, *(results or ())], kept_for)
        return message(made)

    try:
        done = target.change(edit, dry_run)
        if checkout is not None and not dry_run:
            target.checkout(checkout)
    except NotMovedError as error:
        raise NotMovedError(f"{error}; nothing was published") from error
    for name in missing([one.resolve().name for one in results or ()]):
        print(f"missing: {name}, a part of the plan; `run --shard` takes it")
    for line in lines(made) if done.before != done.after or dry_run else made.united.notes:
        print(line)
    print(_outcome(target, done, dry_run))
    report_problems(made.united.problems, strict)


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
