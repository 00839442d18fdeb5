"""A branch of a git repository that contains results and nothing else of the repository.

A commit is prepared in a directory of its own with an index of its own, so no working tree, index
or other branch of the repository changes. Only the last step, which moves the branch, is visible to
others. It succeeds only if the branch is still where it was found; otherwise the new commits are
fetched and added to, so that nobody's commit is overwritten. A kill leaves the branch unchanged or
complete.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from observatory.errors import Exit
from observatory.run.git import Git, GitError, reason_in
from observatory.store.base.problems import RecordError
from observatory.store.base.scratch import temporary

TRIES = 12
"""The number of attempts to move a branch that others move at the same time."""
_LOCKED = ("cannot lock ref", "failed to update ref", "reference already exists", "incorrect old")
_LOCK = re.compile(r"Unable to create '([^']+\.lock)': File exists")
_COMMITTER = {"name": "observatory", "email": "observatory@localhost"}
_SCRATCH = "observatory-branch-"
_REFLOG = ("-m", "observatory publish")

Edit = Callable[[Path, Sequence[Path]], str]
"""Changes a directory with the files of the branch, and returns the message of the commit.

The second argument lists directories with the files of commits that its tip does not contain.
"""


class BranchError(RecordError):
    """The branch or repository does not exist, or is not one for results."""

    exit_code = Exit.USAGE


class NotMovedError(BranchError):
    """The branch could not be fetched or moved."""

    exit_code = Exit.UNPUBLISHED


class _Moved(Exception):
    """Somebody else has moved the branch in the meantime."""


@dataclass(frozen=True)
class Published:
    """The tips of the branch before and after; ``before`` is None if the branch is new."""

    before: str | None
    after: str | None
    tries: int = 1


@dataclass
class Branch:
    """A branch of results in a local repository or, if a remote is given, in that remote."""

    repository: Path
    name: str
    remote: str | None = None
    wait: Callable[[float], None] = time.sleep
    holds: ClassVar[frozenset[str]] = frozenset({"benchmarks.json", "samples"})
    """Names of which a branch has one at its top; one that has none is refused."""
    _git: Git = field(init=False)
    _lock: str = field(default="", init=False)
    """The file by which git found the branch locked in the last attempt."""

    def __post_init__(self) -> None:
        self._git = Git(self.repository)
        checked = self._git.run("check-ref-format", self._ref)
        if checked.returncode != 0 or self.name.startswith("-"):
            raise BranchError(f"{self.name!r} cannot be the name of a branch")
        if self.remote is not None and self.remote not in self._git.text("remote").split("\n"):
            raise BranchError(
                f"{self.repository} has no remote {self.remote!r}; `git remote -v` lists its "
                "remotes"
            )

    def change(self, edit: Edit, dry_run: bool = False) -> Published:
        """Unpack the branch, let ``edit`` change the files, commit them and move the branch.

        If somebody else moves the branch in the meantime, this starts again with their files. A new
        branch begins with a commit without parents. A dry run commits nothing, nor does an edit
        that changes nothing. Raises BranchError, NotMovedError and what ``edit`` raises.
        """
        for number in range(1, TRIES + 1):
            self._lock = ""
            try:
                tips, theirs = self._tips()
            except _Moved:
                continue
            before = next(iter(tips), None)
            unchanged = Published(before, before, number)
            with temporary(_SCRATCH) as made:
                trees = [made / str(place) for place in range(max(1, len(tips)))]
                for place, tree in enumerate(trees):
                    tree.mkdir()
                    self._unpack(tips[place : place + 1], tree)
                message = edit(trees[0], trees[1:])
                if dry_run or not (tips or any(trees[0].iterdir())):
                    return unchanged
                add = ("add", "--all", "--force", "--", ".")
                tree_hash = self._in_tree(trees[0], add, ("write-tree",))
            commit = before
            same = f"{before}^{{tree}}"
            if len(tips) != 1 or tree_hash != self._git.text("rev-parse", same):
                commit = self._commit(tree_hash, tips, message)
            elif self.remote is None or theirs is not None:
                return unchanged
            assert commit is not None
            try:
                self._move(commit, before)
            except _Moved:
                self.wait(random.uniform(0, min(0.1 * 2**number, 10)))  # noqa: S311
            else:
                return Published(before if commit != before else None, commit, number)
        if self._lock:
            raise NotMovedError(
                f"the branch {self.name} is locked by {self._lock}, which another git process uses "
                "or one that was killed left behind; if no git process runs there, remove that file"
            )
        raise NotMovedError(
            f"the branch {self.name} was moved by others {TRIES} times while this was put "
            "together; publish again later"
        )

    def checkout(self, into: Path) -> bool:
        """Write the files of the branch into a directory that is new or empty.

        Returns False, and leaves the directory empty, if the branch does not exist. Raises
        BranchError.
        """
        if into.exists() and (not into.is_dir() or any(into.iterdir())):
            raise BranchError(f"{into} exists already; give a new directory")
        try:
            tips, _ = self._tips()
        except _Moved:
            raise NotMovedError(
                f"the branch {self.name} moved while it was fetched; try again"
            ) from None
        into.mkdir(parents=True, exist_ok=True)
        self._unpack(tips, into.resolve())
        return bool(tips)

    @property
    def _ref(self) -> str:
        return f"refs/heads/{self.name}"

    def _tips(self) -> tuple[list[str], str | None]:
        """The tip of the branch; for a remote, also the local tip if it has more commits.

        The second is the remote's; None if it has no such branch. Raises _Moved.
        """
        local = self._git.resolved(self._ref)
        theirs = None if self.remote is None else self._fetched(self.remote)
        if theirs and local and self._git.contains(local, theirs):
            return [theirs], theirs
        return [tip for tip in (theirs, local) if tip], theirs

    def _fetched(self, remote: str) -> str | None:
        theirs = self._at_remote(remote)
        if theirs is None:
            return None
        tracking = f"refs/remotes/{remote}/{self.name}"
        shallow = self._git.text("rev-parse", "--is-shallow-repository") == "true"
        depth = ("--depth=1",) if shallow else ()
        fetch = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", *depth)
        if self._git.run(*fetch, remote, f"+{self._ref}:{tracking}").returncode == 0:
            return self._git.resolved(tracking)
        # Somebody may hold the tracking branch, or an old one with a longer name be in its way.
        done = self._git.run(*fetch, "--refmap=", remote, self._ref)
        if done.returncode != 0:
            raise NotMovedError(
                f"the branch {self.name} cannot be fetched from {remote}: {reason_in(done.stderr)}"
            )
        if self._git.resolved(theirs) is None:
            raise _Moved
        return theirs

    def _at_remote(self, remote: str) -> str | None:
        done = self._git.run("ls-remote", remote, self._ref)
        if done.returncode != 0:
            raise NotMovedError(f"{remote} cannot be reached: {reason_in(done.stderr)}")
        return next(iter(done.stdout.split()), None)

    def _unpack(self, tips: Sequence[str], tree: Path) -> None:
        for tip in tips[:1]:
            self._in_tree(tree, ("read-tree", tip), ("checkout-index", "--all"))
            names = {path.name for path in tree.iterdir()}
            if names and self.holds and names.isdisjoint(self.holds):
                raise BranchError(
                    f"the branch {self.name} contains {min(names)} and no results; "
                    "name one that contains nothing else, or a new one"
                )

    def _in_tree(self, tree: Path, *commands: tuple[str, ...]) -> str:
        """Run commands with a directory as the working tree and a temporary index.

        Returns what the last command prints. Raises NotMovedError if one fails, as on a full disk.
        """
        with temporary(_SCRATCH) as made:
            variables = {"GIT_WORK_TREE": str(tree), "GIT_INDEX_FILE": str(made / "index")}
            try:
                return [self._git.text(*command, variables=variables) for command in commands][-1]
            except GitError as error:
                raise NotMovedError(str(error)) from error

    def _commit(self, tree: str, parents: Sequence[str], message: str) -> str:
        who = {
            f"GIT_{role}_{key.upper()}": value
            for key, value in _COMMITTER.items()
            if self._git.run("config", f"user.{key}").returncode != 0
            for role in ("AUTHOR", "COMMITTER")
        }
        options = [word for parent in parents for word in ("-p", parent)]
        command = ("commit-tree", tree, *options, "-F", "-")
        done = self._git.run(*command, content=message, variables=who)
        if done.returncode != 0:
            raise NotMovedError(f"nothing could be committed: {reason_in(done.stderr)}")
        return done.stdout.strip()

    def _move(self, commit: str, before: str | None) -> None:
        """Move the branch from ``before``. Raises _Moved if it is not there any more."""
        if self.remote is None:
            self._move_local(commit, before)
            return
        refspec = f"{commit}:{self._ref}"
        done = self._git.run("push", "--porcelain", "--no-verify", self.remote, refspec)
        if done.returncode == 0:
            self._follow(commit)
            return
        output = f"{done.stdout}\n{done.stderr}"
        self._note_lock(output)
        theirs = self._at_remote(self.remote)
        if theirs == commit:  # git reported a failure after the push had succeeded
            return
        if theirs not in (before, None) or any(word in output for word in _LOCKED):
            raise _Moved
        why = [line for line in output.splitlines() if line.startswith(("!", "remote:"))]
        raise NotMovedError(
            f"the branch {self.name} cannot be pushed to {self.remote}: "
            f"{reason_in('; '.join(why) or output)}"
        )

    def _move_local(self, commit: str, before: str | None) -> None:
        if where := self._checked_out():
            raise BranchError(
                f"the branch {self.name} is checked out in {where}, which would not notice that "
                "it moves; check out something else there, or publish with --push"
            )
        old = before or "0" * len(commit)
        done = self._git.run("update-ref", *_REFLOG, self._ref, commit, old)
        if done.returncode == 0:
            return
        self._note_lock(done.stderr)
        if self._git.resolved(self._ref) != before or any(w in done.stderr for w in _LOCKED):
            raise _Moved
        raise NotMovedError(f"the branch {self.name} cannot be written: {reason_in(done.stderr)}")

    def _note_lock(self, output: str) -> None:
        if found := _LOCK.search(output):
            self._lock = found[1]

    def _follow(self, commit: str) -> None:
        """Move the local branch, if it exists and is not checked out, to what was pushed."""
        local = self._git.resolved(self._ref)
        if local and not self._checked_out() and self._git.contains(local, commit):
            self._git.run("update-ref", *_REFLOG, self._ref, commit, local)

    def _checked_out(self) -> str | None:
        """The working tree in which the branch is checked out, if there is one."""
        where = ""
        for line in self._git.text("worktree", "list", "--porcelain").splitlines():
            word, _, rest = line.partition(" ")
            if word == "worktree":
                where = rest
            elif word == "branch" and rest == self._ref:
                return where
        return None
