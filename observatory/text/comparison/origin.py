"""Where a comparison comes from, as far as the comparison itself cannot be asked.

A comparison may be a stranger's file. What is here comes from whoever publishes it: from the
command line, from the settings of the repository, and from GitHub.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

_REPOSITORY = r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}"
_SOURCE = re.compile(rf"({_REPOSITORY})(?:@([0-9A-Za-z._-]{{1,100}}))?")
_FORGE = "https://github.com"


@dataclass(frozen=True)
class Source:
    """The observatory itself: its repository on GitHub, and the commit that is used."""

    repository: str
    commit: str = ""

    @classmethod
    def of(cls, text: str) -> Source | None:
        """The source that OWNER/NAME or OWNER/NAME@COMMIT names; None for another text.

        >>> Source.of("some/observatory@0123abc")
        Source(repository='some/observatory', commit='0123abc')
        """
        found = _SOURCE.fullmatch(text)
        return Source(found[1], found[2] or "") if found else None

    @property
    def docs(self) -> str:
        """The address below which the documentation is, with a slash at its end."""
        return f"{_FORGE}/{self.repository}/blob/{self.commit or 'HEAD'}/docs/"

    @property
    def requirement(self) -> str:
        """What pip and uv install it from."""
        at = f"@{self.commit}" if self.commit else ""
        return f"git+{_FORGE}/{self.repository}{at}"


@dataclass(frozen=True)
class PullRequest:
    """A pull request, according to GitHub."""

    repository: str
    """OWNER/NAME, which has the branch that it goes into."""
    number: int
    target: str
    """The branch that it goes into."""
    commit: str
    """The newest of its commits that was measured, as a full hash."""


@dataclass(frozen=True)
class Origin:
    """What the publisher of a comparison knows of it."""

    source: Source | None = None
    dashboard: str = ""
    """The address of the pages with the history; empty: there are none."""
    pull: PullRequest | None = None


UNKNOWN = Origin()


def repeating(reproduce: str, origin: Origin) -> str:
    """The command that repeats a comparison, from nothing if that can be said; else empty.

    The text of a stranger's file becomes one command of the observatory: each of its words is
    quoted, so that a shell runs nothing else.
    """
    try:
        words = shlex.split(reproduce)
    except ValueError:
        return ""
    if len(words) < 2 or words[0] != "observatory" or not words[1].isalpha():
        return ""
    if origin.source is None:
        return shlex.join(words)
    fetch: tuple[list[str], ...] = ()
    if origin.pull is not None and "--repo" in words[:-1]:
        name = origin.pull.repository.rpartition("/")[2]
        words[words.index("--repo") + 1] = name
        fetch = (
            ["git", "clone", f"{_FORGE}/{origin.pull.repository}", name],
            ["git", "-C", name, "fetch", "origin", f"pull/{origin.pull.number}/merge"],
        )
    tool = ["uvx", "--from", origin.source.requirement]
    return " && ".join(map(shlex.join, (*fetch, [*tool, *words])))
