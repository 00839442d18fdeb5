"""Raise the upper bound of numba in a checkout, and keep one pull request for it.

    python -m observatory.numba_bound.propose ../pytensor --judge
    python -m observatory.numba_bound.propose ../pytensor --dry-run
    python -m observatory.numba_bound.propose ../pytensor --text text.md

With --text, the change is made here, and its text is one that --judge wrote elsewhere: a process
that holds a token then runs nothing of a numba that nobody has looked at.

The command commits the change on a branch of its own, pushes the branch, and opens a pull request
or updates the open one; there is never a second one. Each time, the branch starts again from the
base. If somebody else has committed to it, it is left alone. `gh` makes the pull request and takes
its token from GH_TOKEN.

Exit status 0: the change is proposed, or nothing is due. The pull request contains the verdicts
(statuses 25 and 26). 27: git or gh failed. Any other status is one of
`python -m observatory.numba_bound`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from observatory.cli.guarded import guarded
from observatory.cli.output import append_summary
from observatory.numba_bound.command import main as raise_bound_in
from observatory.numba_bound.status import Status
from observatory.store.base.files import read_bounded
from observatory.store.base.problems import RecordError
from observatory.store.base.scratch import temporary
from observatory.text.comment import LIMIT
from observatory.text.plain import for_log

FAILED = 27
_PROPOSED = (Status.DONE, Status.DO_NOT_MERGE, Status.NOT_JUDGED)
_NAME, _ADDRESS = "observatory", "observatory@localhost"
_NOTE = (
    "\n\nWorkflows do not start for a pull request that a workflow has opened. To have it tested, "
    "close and reopen it.\n"
)


class FailedError(Exception):
    """git or gh failed; the message contains its output."""


def main(
    argv: Sequence[str] | None = None,
    raise_bound: Callable[[Sequence[str]], int] = raise_bound_in,
) -> int:
    """Raise the bound and propose it; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m observatory.numba_bound.propose",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("checkout", type=Path, help="a checkout of the project, with a remote origin")
    add("--file", type=Path, default=Path("pyproject.toml"), help="default: pyproject.toml")
    add("--branch", default="observatory/numba-upper-bound", help="branch of the pull request")
    add("--base", help="branch to merge into; default: the branch that is checked out")
    told = parser.add_mutually_exclusive_group()
    told.add_argument("--judge", action="store_true", help="measure before it is proposed")
    told.add_argument("--text", type=Path, help="text of the pull request, with the verdicts")
    add("--dry-run", action="store_true", help="raise the bound, and push nothing")
    add("--summary", type=Path, help="append the result to this file: $GITHUB_STEP_SUMMARY")
    options = parser.parse_args(argv)
    checkout: Path = options.checkout
    with temporary("observatory-bound-") as directory:
        file = Path(directory, "text.md")
        arguments = [str(checkout / options.file), "--pull-request", str(file)]
        status = raise_bound([*arguments, *(["--judge"] if options.judge else [])])
        text = file.read_text("utf-8") if file.is_file() else ""
    try:
        if options.text is not None and text:
            text = _judged(options.text, text.partition("\n")[0])
        if status == Status.LEFT:
            return 0
        if status not in _PROPOSED or not _run(
            checkout, "git", "status", "--porcelain", str(options.file)
        ):
            return status
        title, _, body = text.partition("\n")
        body = body.strip("\n") + _NOTE
        dry = "this is a dry run; nothing is pushed"
        result = dry if options.dry_run else propose(options, title, body)
    except FailedError as error:
        print(f"error: {error}", file=sys.stderr)
        return FAILED
    print(f"{title}: {result}")
    if options.summary is not None:
        append_summary(options.summary, f"### {title}\n\n{result}\n\n{body}")
    return 0


def _judged(path: Path, title: str) -> str:
    """A text that was written elsewhere, of the change with this title. Raises FailedError.

    What was measured there may have written it: it is bounded, and gives no orders to a log.
    """
    try:
        content = read_bounded(path, 4 * LIMIT, "it is no text of a pull request")
    except RecordError as error:
        raise FailedError(str(error)) from error
    text = for_log((content or b"").decode(errors="replace"))[:LIMIT]
    if not text.partition("\n")[0].casefold().endswith(title.casefold()):
        raise FailedError(f"{path} is not about this change ({title}); measure again")
    return text


def propose(options: argparse.Namespace, title: str, body: str) -> str:
    """Push the branch, and open or edit its pull request; returns what was done.

    Raises FailedError.
    """
    branch = options.branch
    git, gh = (partial(_run, options.checkout, name) for name in ("git", "gh"))
    ref = f"refs/heads/{branch}"
    base = options.base or git("rev-parse", "--abbrev-ref", "HEAD")
    remote = git("ls-remote", "origin", ref).partition("\t")[0]
    if remote:
        git("fetch", "--quiet", "--no-tags", "--depth=1", "origin", remote)
        author = git("log", "-1", "--format=%ae", remote)
        if author != _ADDRESS:
            return f"{author} has committed to {branch}, so it is left alone"
    git("add", "--", str(options.file))
    tree = git("write-tree")
    if not remote or tree != git("rev-parse", f"{remote}^{{tree}}"):
        who = ("-c", f"user.name={_NAME}", "-c", f"user.email={_ADDRESS}")
        commit = git(*who, "commit-tree", tree, "-p", "HEAD", "-m", title)
        # The lease keeps commits that somebody pushes in the meantime.
        git("push", "--quiet", f"--force-with-lease={ref}:{remote}", "origin", f"{commit}:{ref}")
    fields = ["--title", title, "--body", body]
    listed = gh("pr", "list", "--head", branch, "--state", "open", "--json", "number")
    if found := json.loads(listed or "[]"):
        number = str(int(found[0]["number"]))
        gh("pr", "edit", number, *fields)
        return f"pull request {number} is up to date"
    return "opened " + gh("pr", "create", "--head", branch, "--base", base, *fields)


def _run(where: Path, *command: str) -> str:
    words = [word for word in command if not word.startswith("-") and "=" not in word]
    name = " ".join(words[:2])
    try:
        done = subprocess.run(
            command, cwd=where, capture_output=True, text=True, timeout=600, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise FailedError(f"{name} cannot be run: {error}") from error
    if done.returncode != 0:
        raise FailedError(f"{name} failed: {done.stderr.strip()[-500:]}")
    return done.stdout.strip()


if __name__ == "__main__":
    with guarded():
        sys.exit(main())
