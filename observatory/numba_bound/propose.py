"""Raise the upper bound of numba in a checkout, and keep one pull request that says so.

    python -m observatory.numba_bound.propose ../pytensor --judge
    python -m observatory.numba_bound.propose ../pytensor --dry-run

The change is committed on a branch of its own and pushed. A pull request is opened or, if there is
one, updated; there is never a second one. Each time, the branch starts again from the base. If
somebody else has committed to it, it stays as it is. `gh` makes the pull request; it takes its
token from GH_TOKEN.

Exit status 0: the change is proposed, or nothing is due. The pull request says what the judges
found (statuses 25 and 26). 27: git or gh failed. Any other status is one of
`python -m observatory.numba_bound`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from observatory.numba_bound.command import main as bump
from observatory.numba_bound.statuses import Status

FAILED = 27
_PROPOSED = (Status.DONE, Status.DO_NOT_MERGE, Status.NOT_JUDGED)
_WHO = ("observatory", "observatory@localhost")
_NOTE = (
    "\n\nA pull request that a workflow has made starts no workflows: close and reopen it to have "
    "it tested.\n"
)


class FailedError(Exception):
    """git or gh did not do what was asked; the message says what they said."""


@dataclass(frozen=True)
class Proposal:
    """A change to a checkout that should become a pull request."""

    checkout: Path
    file: Path
    """Within the checkout."""
    branch: str
    base: str
    text: str
    """Title, empty line, body."""

    @property
    def title(self) -> str:
        """The first line."""
        return self.text.partition("\n")[0]

    @property
    def body(self) -> str:
        """What follows the empty line."""
        return self.text.partition("\n")[2].strip("\n") + _NOTE


def main(
    argv: Sequence[str] | None = None, raise_bound: Callable[[Sequence[str]], int] = bump
) -> int:
    """Raise the bound and propose it; returns the exit status."""
    options = _options(argv)
    checkout: Path = options.checkout
    with tempfile.TemporaryDirectory(prefix="observatory-bound-") as made:
        text = Path(made, "text.md")
        arguments = [str(checkout / options.file), "--pull-request", str(text)]
        status = raise_bound([*arguments, *(["--judge"] if options.judge else [])])
        said = text.read_text("utf-8") if text.is_file() else ""
    try:
        if status == Status.LEFT:
            return 0
        if status not in _PROPOSED or not _git(checkout, "status", "--porcelain", options.file):
            return status
        base = options.base or _git(checkout, "rev-parse", "--abbrev-ref", "HEAD")
        proposal = Proposal(checkout, options.file, options.branch, base, said)
        done = "a dry run: nothing is pushed" if options.dry_run else propose(proposal)
    except FailedError as error:
        print(f"error: {error}", file=sys.stderr)
        return FAILED
    print(f"{proposal.title}: {done}")
    if options.summary is not None:
        with options.summary.open("a", encoding="utf-8") as stream:
            stream.write(f"### {proposal.title}\n\n{done}\n\n{proposal.body}")
    return 0


def propose(proposal: Proposal) -> str:
    """Push the branch, and open or edit its pull request; returns what was done.

    Raises FailedError.
    """
    where, ref = proposal.checkout, f"refs/heads/{proposal.branch}"
    listed = _git(where, "ls-remote", "origin", ref).split()
    there = listed[0] if listed else ""
    if there:
        _git(where, "fetch", "--quiet", "--no-tags", "--depth=1", "origin", there)
        author = _git(where, "log", "-1", "--format=%ae", there)
        if author != _WHO[1]:
            return f"{author} has committed to {proposal.branch}, which is left alone"
    commit = _committed(proposal)
    if not there or _git(where, "rev-parse", f"{commit}^{{tree}}") != _git(
        where, "rev-parse", f"{there}^{{tree}}"
    ):
        # Only from where it was seen: what somebody pushes meanwhile is not overwritten.
        _git(where, "push", "--quiet", f"--force-with-lease={ref}:{there}", "origin",
             f"{commit}:{ref}")  # fmt: skip
    fields = ["--title", proposal.title, "--body", proposal.body]
    found = json.loads(
        _gh(where, "pr", "list", "--head", proposal.branch, "--state", "open", "--json", "number")
        or "[]"
    )
    if found:
        number = str(int(found[0]["number"]))
        _gh(where, "pr", "edit", number, *fields)
        return f"pull request {number} is up to date"
    made = _gh(where, "pr", "create", "--head", proposal.branch, "--base", proposal.base, *fields)
    return f"opened {made}"


def _committed(proposal: Proposal) -> str:
    """The change as a commit on the checkout's, which no branch holds."""
    where = proposal.checkout
    _git(where, "add", "--", str(proposal.file))
    tree = _git(where, "write-tree")
    name, address = _WHO
    who = ("-c", f"user.name={name}", "-c", f"user.email={address}")
    return _git(where, *who, "commit-tree", tree, "-p", "HEAD", "-m", proposal.title)


def _git(where: Path, *arguments: str | Path) -> str:
    return _run(["git", "-C", str(where), *map(str, arguments)], where)


def _gh(where: Path, *arguments: str) -> str:
    return _run(["gh", *arguments], where)


def _run(command: Sequence[str], where: Path) -> str:
    name = " ".join(part for part in command[:4] if part not in ("-C", str(where)))
    try:
        done = subprocess.run(
            command, cwd=where, capture_output=True, text=True, timeout=600, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise FailedError(f"{name} cannot be run: {error}") from error
    if done.returncode != 0:
        raise FailedError(f"{name} failed: {done.stderr.strip()[-500:]}")
    return done.stdout.strip()


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m observatory.numba_bound.propose",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("checkout", type=Path, help="a checkout of the project, with a remote origin")
    add("--file", type=Path, default=Path("pyproject.toml"), help="default: pyproject.toml")
    add("--branch", default="observatory/numba-upper-bound", help="of the pull request")
    add("--base", help="what it is to be merged into; default: the branch that is checked out")
    add("--judge", action="store_true", help="measure before it is proposed")
    add("--dry-run", action="store_true", help="raise the bound, and push nothing")
    add("--summary", type=Path, help="append what was done here: $GITHUB_STEP_SUMMARY")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
