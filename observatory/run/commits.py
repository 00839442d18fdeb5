"""The commits between two subjects, read from a local clone: who wrote what, and which files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from observatory.analyze.history.suspects import Commit
from observatory.run.git import Git, GitError

MOST = 2000
"""Commits of one range that are read; a longer range gives no suspects worth reading."""
_FIELDS = "%x1e%H%x1f%P%x1f%an%x1f%aI%x1f%s%x1f"
_MERGED = re.compile(r"Merge pull request #(\d{1,7})\b")
_SQUASHED = re.compile(r"\(#(\d{1,7})\)\s*$")
_DEFINITION = re.compile(r"^[^:]+:(?P<file>[^:\0]+)\0?:?\s*(?:class|def)\s+(?P<name>\w+)")


@dataclass(frozen=True)
class Range:
    """What a clone says of the commits between two subjects."""

    commits: tuple[Commit, ...] = ()
    """Without merges, the newest first."""
    absent: str = ""
    """Why there are none, as a sentence without a full stop."""


def commits_between(git: Git, base: str, head: str) -> Range:
    """The commits of ``base..head``, tags or hashes, with the pull request that brought each."""
    for name in (base, head):
        if git.resolved(name) is None:
            return Range(absent=f"the clone {git.repository} has no commit {name[:40]}: run `git "
                                "fetch --tags` there")  # fmt: skip
    try:
        log = git.text(
            "log", "--topo-order", f"--max-count={MOST}", f"--format={_FIELDS}", "--name-only",
            f"{base}..{head}",
        )  # fmt: skip
    except GitError as error:
        return Range(absent=str(error))
    read = [_read(entry) for entry in log.split("\x1e") if entry.strip()]
    if not read:
        return Range(absent=f"{head[:40]} has no commit that {base[:40]} has not")
    brought = _brought(read)
    return Range(tuple(
        Commit(one.hash, one.author, one.date, one.title, _number(one, brought), one.files)
        for one in read if len(one.parents) < 2
    ))  # fmt: skip


def definitions(git: Git, commit: str, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The Python files that define classes or functions of these names, as of a commit."""
    wanted = sorted({name for name in names if re.fullmatch(r"\w{3,80}", name)})
    if not wanted:
        return {}
    pattern = rf"^[[:space:]]*(class|def)[[:space:]]+({'|'.join(wanted)})[[:space:]]*[(:]"
    done = git.run("grep", "-E", "-z", "--no-color", pattern, commit, "--", "*.py")
    found: dict[str, dict[str, None]] = {}
    for line in done.stdout.splitlines():
        if one := _DEFINITION.match(line):
            found.setdefault(one["name"], {})[one["file"]] = None
    return {name: tuple(files) for name, files in found.items()}


@dataclass(frozen=True)
class _Read:
    hash: str
    parents: tuple[str, ...]
    author: str
    date: datetime
    title: str
    files: tuple[str, ...]


def _read(entry: str) -> _Read:
    hash_, parents, author, date, title, files = entry.split("\x1f", 5)
    named = tuple(line.strip() for line in files.splitlines() if line.strip())
    return _Read(
        hash_.strip(), tuple(parents.split()), author, datetime.fromisoformat(date), title, named
    )


def _number(one: _Read, brought: dict[str, int]) -> int | None:
    squashed = _SQUASHED.search(one.title)
    return int(squashed[1]) if squashed else brought.get(one.hash)


def _brought(read: Sequence[_Read]) -> dict[str, int]:
    """By commit, the pull request whose merge brought it: the oldest merge that reaches it."""
    known = {one.hash: one for one in read}
    found: dict[str, int] = {}
    for merge in reversed(read):  # the oldest first
        number = _MERGED.match(merge.title)
        if number is None or len(merge.parents) < 2:
            continue
        waiting = list(merge.parents[1:])
        while waiting:
            hash_ = waiting.pop()
            if hash_ in known and hash_ not in found:
                found[hash_] = int(number[1])
                waiting += known[hash_].parents
    return found
