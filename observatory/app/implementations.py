"""A warning where a subject changes the code of implementations of Ops and not their version.

No sample of a comparison shows that, because each side has caches of its own, and an upgrade shows
it only for the graphs that it builds.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import Field

from observatory.errors import Exit, ObservatoryError
from observatory.run.environments import Environment
from observatory.run.git import Git, GitError
from observatory.run.printing import printed_record
from observatory.store.base.record import Record
from observatory.store.base.scratch import temporary
from observatory.store.records.sample import Count, Word
from observatory.text.plain import shorten
from observatory.text.words import listed, several

_PACKAGE = "pytensor"
"""What `benchmarks.implementations`, which only an environment under test imports, reads."""
_SIDES = "BASE", "HEAD"
"""What a comparison calls its sides."""
_SECONDS = 120.0
_NAMED = 3
_LONGEST_NAME = 60


class ImplementationsError(ObservatoryError):
    """The sources of a side cannot be read; a comparison says so and goes on."""

    exit_code = Exit.UNDECIDED


class _Implementation(Record):
    name: Word
    versions: list[Count] = Field(max_length=100)


class _Compared(Record):
    """What `python -m benchmarks.implementations --json` prints."""

    compared: Count
    changed: list[_Implementation] = Field(max_length=5000)


def between(
    say: Callable[[str], None],
    base: Environment,
    head: Environment,
    names: tuple[str, str] = _SIDES,
) -> list[str]:
    """The warning, if there is one, on implementations of two environments.

    ``say`` is told where sources cannot be read. ``names``: what the warning calls the two.
    """
    return _warnings(say, head, _packages(base), _packages(head), names)


def between_commits(
    say: Callable[[str], None], repository: Path, base: str, head: str, environment: Environment
) -> list[str]:
    """Like `between`, of two commits; ``environment`` is that of the second one."""
    git = Git(repository)
    with temporary("observatory-sources-") as place:
        try:
            old, new = (_sources(git, commit, place / commit) for commit in (base, head))
        except GitError as error:
            say(str(error))
            return []
        return _warnings(say, environment, old, new, _SIDES)


def _packages(environment: Environment) -> Path:
    """Where the packages of an environment are; the directory of a free-threaded one ends in t."""
    lib = environment.python.parents[1] / "lib"
    return next(lib.glob("python3*/site-packages"), lib)


def _sources(git: Git, commit: str, into: Path) -> Path:
    packed = into.with_suffix(".zip")
    git.text("archive", "--format=zip", f"--output={packed}", commit, _PACKAGE)
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(into)
    return into


def _warnings(
    say: Callable[[str], None],
    environment: Environment,
    old: Path,
    new: Path,
    names: tuple[str, str],
) -> list[str]:
    try:
        found = printed_record(
            environment, "benchmarks.implementations", ("--json", str(old), str(new)), _Compared,
            timeout=_SECONDS, what="the implementations of Ops", error=ImplementationsError,
        )  # fmt: skip
    except ImplementationsError as error:
        say(str(error))
        return []
    return [_warning([one.name for one in found.changed], *names)] if found.changed else []


def _warning(names: Sequence[str], base: str, head: str) -> str:
    shown = [f"`{shorten(one, _LONGEST_NAME)}`" for one in names[:_NAMED]]
    if more := len(names) - len(shown):
        shown.append(f"{more} more")
    whose = "its" if len(names) == 1 else "their"
    many = several(len(names), "implementation")
    return (
        f"{head} changes the code of {many} of Ops, but not {whose} version: {listed(shown)}. "
        f"A cache that {base} filled may go on serving the older code; "
        "raise the version if a value can change."
    )
