"""A branch of a git repository that holds results, and nothing else of the repository.

What is to be committed is put together in a directory of its own, with an index of its own: no
working tree, index or other branch of the repository is touched. Only the last step, which moves
the branch, is seen by others, and it moves only from where it was found: whoever was faster is
fetched and added to, and nobody's commit is ever overwritten. Killed at any instant, the branch is
where it was or where it should be.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from observatory.errors import Exit
from observatory.run.git import Git, reason_in
from observatory.store.base.problems import RecordError

TRIES = 12
"""How often a branch that others move at the same time is tried."""
_LOCKED = ("cannot lock ref", "failed to update ref", "reference already exists", "incorrect old")
_NOBODY = {"name": "observatory", "email": "observatory@localhost"}
_RESULTS = {"benchmarks.json", "samples"}

Edit = Callable[[Path, Sequence[Path]], str]
"""Changes a directory that holds what is on the branch, and returns the message of the commit.

The second argument: directories with what else is on the branch, in commits that its tip lacks.
"""


class BranchError(RecordError):
    """There is no such branch or repository, or it is not for results; the message says which."""

    exit_code = Exit.USAGE


class NotMovedError(BranchError):
    """The branch could not be fetched or moved; the message says why."""

    exit_code = Exit.UNPUBLISHED


class _Moved(Exception):
    """Somebody else has moved the branch in the meantime."""


@dataclass(frozen=True)
class Published:
    """Where the branch was and is: ``before`` is None where it was made now."""

    before: str | None
    after: str | None
    tries: int = 1


@dataclass
class Branch:
    """A branch of results in a local repository, or, with a remote, of the one behind it."""

    repository: Path
    name: str
    remote: str | None = None
    """None: the branch of the local repository is meant."""
    wait: Callable[[float], None] = time.sleep
    _git: Git = field(init=False)

    def __post_init__(self) -> None:
        self._git = Git(self.repository)
        checked = self._git.run("check-ref-format", self._ref)
        if checked.returncode != 0 or self.name.startswith("-"):
            raise BranchError(f"{self.name!r} cannot be the name of a branch")
        if self.remote is not None and self.remote not in self._git.text("remote").split("\n"):
            raise BranchError(
                f"{self.repository} has no remote {self.remote!r}; `git remote -v` lists those "
                "that there are"
            )

    def change(self, edit: Edit, dry_run: bool = False) -> Published:
        """Unpack the branch, let ``edit`` change the directory, commit it and move the branch.

        ``edit`` is called again with what somebody else has committed in the meantime. A branch
        that is not there begins with the commit, without parents. Nothing is committed where
        nothing changed or is there, nor in a dry run.

        Raises BranchError, NotMovedError and what ``edit`` raises.
        """
        for number in range(1, TRIES + 1):
            tips = self._tips()
            before = next(iter(tips), None)
            with tempfile.TemporaryDirectory(prefix="observatory-branch-") as made:
                trees = [Path(made, str(place)) for place in range(max(1, len(tips)))]
                for place, tree in enumerate(trees):
                    tree.mkdir()
                    self._unpack(tips[place : place + 1], tree)
                message = edit(trees[0], trees[1:])
                if dry_run or not (tips or any(trees[0].iterdir())):
                    return Published(before, before, number)
                tree_hash = self._tree(trees[0])
            if len(tips) == 1 and tree_hash == self._git.text("rev-parse", f"{before}^{{tree}}"):
                return Published(before, before, number)
            commit = self._commit(tree_hash, tips, message)
            try:
                self._move(commit, before)
            except _Moved:
                self.wait(random.uniform(0, min(0.1 * 2**number, 10)))  # noqa: S311
            else:
                return Published(before, commit, number)
        raise NotMovedError(
            f"the branch {self.name} was moved by others {TRIES} times while this was put "
            "together; publish again later"
        )

    def checkout(self, into: Path) -> bool:
        """Write what the branch holds into a directory that is new or empty.

        False if there is no such branch: the directory is empty then. Raises BranchError.
        """
        if into.exists() and (not into.is_dir() or any(into.iterdir())):
            raise BranchError(f"{into} exists already; give a new directory")
        tips = self._tips()
        into.mkdir(parents=True, exist_ok=True)
        self._unpack(tips, into.resolve())
        return bool(tips)

    @property
    def _ref(self) -> str:
        return f"refs/heads/{self.name}"

    def _tips(self) -> list[str]:
        """Where the branch is; after the remote's the local one, where that has more."""
        local = self._git.resolved(self._ref)
        if self.remote is None:
            return [local] if local else []
        theirs = self._fetched(self.remote)
        if theirs is None or local is None:
            return [tip for tip in (theirs, local) if tip]
        known = self._git.run("merge-base", "--is-ancestor", local, theirs).returncode == 0
        return [theirs] if known else [theirs, local]

    def _fetched(self, remote: str) -> str | None:
        if self._at_remote(remote) is None:
            return None
        tracking = f"refs/remotes/{remote}/{self.name}"
        shallow = self._git.text("rev-parse", "--is-shallow-repository") == "true"
        depth = ["--depth=1"] if shallow else []
        done = self._git.run("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", *depth,
                             remote, f"+{self._ref}:{tracking}")  # fmt: skip
        if done.returncode != 0 and "lock" not in done.stderr:
            raise NotMovedError(
                f"the branch {self.name} cannot be fetched from {remote}: {reason_in(done.stderr)}"
            )
        return self._git.resolved(tracking)

    def _at_remote(self, remote: str) -> str | None:
        done = self._git.run("ls-remote", remote, self._ref)
        if done.returncode != 0:
            raise NotMovedError(f"{remote} cannot be reached: {reason_in(done.stderr)}")
        return next(iter(done.stdout.split()), None)

    def _unpack(self, tips: Sequence[str], tree: Path) -> None:
        for tip in tips[:1]:
            with tempfile.TemporaryDirectory(prefix="observatory-index-") as made:
                place = _place(tree, Path(made, "index"))
                self._git.text("read-tree", tip, variables=place)
                self._git.text("checkout-index", "--all", variables=place)
            names = {path.name for path in tree.iterdir()}
            if names and names.isdisjoint(_RESULTS):
                raise BranchError(
                    f"the branch {self.name} contains {min(names)} and no results; "
                    "name one that holds nothing else, or one that is not there yet"
                )

    def _tree(self, tree: Path) -> str:
        with tempfile.TemporaryDirectory(prefix="observatory-index-") as made:
            place = _place(tree, Path(made, "index"))
            self._git.text("add", "--all", "--force", "--", ".", variables=place)
            return self._git.text("write-tree", variables=place)

    def _commit(self, tree: str, parents: Sequence[str], message: str) -> str:
        who = {
            f"GIT_{role}_{key.upper()}": value
            for key, value in _NOBODY.items()
            if self._git.run("config", f"user.{key}").returncode != 0
            for role in ("AUTHOR", "COMMITTER")
        }
        words = [word for parent in parents for word in ("-p", parent)]
        done = self._git.run("commit-tree", tree, *words, "-F", "-", content=message,
                             variables=who)  # fmt: skip
        if done.returncode != 0:
            raise NotMovedError(f"nothing could be committed: {reason_in(done.stderr)}")
        return done.stdout.strip()

    def _move(self, commit: str, before: str | None) -> None:
        """Move the branch from ``before``. Raises _Moved where it is not there any more."""
        if self.remote is None:
            self._move_here(commit, before)
            return
        pushed = [f"{commit}:{self._ref}"]
        done = self._git.run("push", "--porcelain", "--no-verify", self.remote, *pushed)
        if done.returncode == 0:
            self._follow(commit)
            return
        said = f"{done.stdout}\n{done.stderr}"
        theirs = self._at_remote(self.remote)
        if theirs == commit:  # it was said that it failed after it had been done
            return
        if theirs not in (before, None) or any(word in said for word in _LOCKED):
            raise _Moved
        why = [line for line in said.splitlines() if line.startswith(("!", "remote:"))]
        raise NotMovedError(
            f"the branch {self.name} cannot be pushed to {self.remote}: "
            f"{reason_in('; '.join(why) or said)}"
        )

    def _move_here(self, commit: str, before: str | None) -> None:
        if where := self._checked_out():
            raise BranchError(
                f"the branch {self.name} is checked out in {where}, which would not notice that "
                "it moves; check out something else there, or publish with --push"
            )
        words = ["update-ref", "-m", "observatory publish", self._ref, commit]
        done = self._git.run(*words, before or "0" * len(commit))
        if done.returncode == 0:
            return
        if self._git.resolved(self._ref) != before or any(w in done.stderr for w in _LOCKED):
            raise _Moved
        raise NotMovedError(f"the branch {self.name} cannot be written: {reason_in(done.stderr)}")

    def _follow(self, commit: str) -> None:
        """Let the local branch, if there is one that nobody works on, follow what was pushed."""
        local = self._git.resolved(self._ref)
        if local is None or self._checked_out():
            return
        if self._git.run("merge-base", "--is-ancestor", local, commit).returncode == 0:
            self._git.run("update-ref", "-m", "observatory publish", self._ref, commit, local)

    def _checked_out(self) -> str | None:
        where = ""
        for line in self._git.text("worktree", "list", "--porcelain").splitlines():
            word, _, rest = line.partition(" ")
            if word == "worktree":
                where = rest
            elif word == "branch" and rest == self._ref:
                return where
        return None


def _place(tree: Path, index: Path) -> dict[str, str]:
    return {"GIT_WORK_TREE": str(tree), "GIT_INDEX_FILE": str(index)}
