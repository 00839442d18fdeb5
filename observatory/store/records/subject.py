"""What is measured: a set of pip requirements plus a Python version, and its place in a history."""

from __future__ import annotations

import hashlib
import re

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from pydantic import Field

from observatory.store.base.moments import MomentInUtc
from observatory.store.base.record import Record

_PLACED = re.compile(r"([^@]+ @ (?:git\+)?file://).*(@[0-9a-f]{40}|/[^/]*\.whl)")
"""A requirement with the place of a repository or of a wheel on the machine that measured it."""


def name_of(requirement: str) -> str:
    """The normalized name of what a requirement asks for. Raises InvalidRequirement.

    >>> name_of("Numba>=0.58"), name_of("numba_stats @ file:///wheels/numba_stats-1-py3-none-any.whl")
    ('numba', 'numba-stats')
    """
    return canonicalize_name(Requirement(requirement).name)


class Subject(Record):
    """One subject, resolved as far as it can be without an environment.

    ``commit`` is where asv finds its results: a commit of PyTensor's repository, or one of the
    synthetic history of releases, whose hashes depend on nothing but the releases.
    """

    label: str = Field(description='how people name it: "3.3.7", "3.3.7 numba==0.66.0"')
    requirements: tuple[str, ...] = Field(description="what pip is asked for")
    python: str = Field(
        pattern=r"^3\.\d+t?$",
        description="minor version of the interpreter; 3.14t is free-threaded",
    )
    commit: str = Field(pattern=r"^[0-9a-f]{40}$")
    date: MomentInUtc = Field(description="of the release or commit, with a time zone")
    exclude_newer: MomentInUtc | None = Field(
        None, description="dependencies are resolved as of this moment; None: as of today"
    )
    extras: tuple[str, ...] = Field((), description="added to a release, e.g. numba==0.66.0")

    @property
    def env_name(self) -> str:
        """The name of the asv environment, part of the result file's name.

        Not a name that asv itself would give: its own runs of the same subject stay beside ours.

        >>> from datetime import UTC, datetime
        >>> Subject(label="3.3.7", requirements=("pytensor==3.3.7",), python="3.13",
        ...         commit="0" * 40, date=datetime(2026, 1, 1, tzinfo=UTC)).env_name
        'observatory-py3.13'
        """
        names = [f"observatory-py{self.python}", *(_file_name(extra) for extra in self.extras)]
        return "-".join(names)

    def same_as(self, other: Subject) -> bool:
        """Whether both are the same, wherever their repositories and wheels were.

        What was in those follows from the commits, and from the digests of wheels in ``commit`` and
        ``extras``.

        >>> from datetime import UTC, datetime
        >>> def of(path): return Subject(
        ...     label="abc", requirements=(f"pytensor @ git+file://{path}@{'a' * 40}", "numba"),
        ...     python="3.13", commit="a" * 40, date=datetime(2026, 1, 1, tzinfo=UTC))
        >>> of("/home/ada/pytensor").same_as(of("/src")), of("/a") == of("/b")
        (True, False)
        """
        return self._anywhere() == other._anywhere()

    def _anywhere(self) -> Subject:
        texts = tuple(
            "".join(placed.groups()) if (placed := _PLACED.fullmatch(text)) else text
            for text in self.requirements
        )
        return self.model_copy(update={"requirements": texts})


def _file_name(extra: str) -> str:
    """A requirement as part of a file name: readable if it is a pin, else with a hash."""
    if re.fullmatch(r"[A-Za-z0-9_.\-]+==[A-Za-z0-9_.+\-]+", extra):
        return extra.replace("==", "")
    name = re.split(r"[^A-Za-z0-9_.\-]", extra, maxsplit=1)[0] or "extra"
    return f"{name[:40]}-{hashlib.sha256(extra.encode()).hexdigest()[:8]}"


class Versions(Record):
    """What an environment under test really holds, asked of the environment itself."""

    pytensor: str
    numba: str | None
    python: str
    packages: dict[str, str] = Field(
        description="every installed distribution and its version, without those of `added`"
    )
    added: dict[str, str] = Field(
        default_factory=dict,
        description="distributions that are there for an optional backend alone; the environment "
        "without them holds the same as this one",
    )

    @property
    def every(self) -> dict[str, str]:
        """Every installed distribution and its version."""
        return {**self.packages, **self.added}

    def same_subject(self, other: Versions) -> bool:
        """Whether both hold the same, whatever was added for a backend."""
        mine = (self.python, self.pytensor, self.numba, self.packages)
        return mine == (other.python, other.pytensor, other.numba, other.packages)

    def agrees_with(self, other: Versions) -> bool:
        """Whether both hold the same, as far as the same was added to both."""
        shared = self.added.keys() & other.added.keys()
        return self.same_subject(other) and all(self.added[n] == other.added[n] for n in shared)
