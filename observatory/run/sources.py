"""Subjects that are not releases: wheels on disk, and commits of repositories on disk."""

from __future__ import annotations

import hashlib
import zipfile
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from observatory.benchmarks.catalogue import no_such
from observatory.errors import ObservatoryError
from observatory.run.git import Git, GitError
from observatory.run.history import commit_of_wheel
from observatory.text.words import several


class SubjectError(ObservatoryError, ValueError):
    """A text names no subject; the message says what is accepted."""


class Core(NamedTuple):
    """A subject without its further requirements and its Python."""

    label: str
    requirements: tuple[str, ...]
    commit: str
    date: datetime
    exclude_newer: datetime | None
    pythons: tuple[str, ...]
    """The minor versions that are known to work; empty if that is not known."""


class Wheel(NamedTuple):
    """A wheel on disk: its name and version, absolute path and SHA-256."""

    name: str
    version: str
    path: Path
    digest: str

    @property
    def label(self) -> str:
        """The version with the first digits of the digest, as a local version."""
        return f"{self.version}+whl.{self.digest[:8]}"


def read_wheel(path: Path) -> Wheel:
    """Return what the name and the bytes of a wheel say; raise SubjectError if it is not one."""
    try:
        name, version, _, _ = parse_wheel_filename(path.name)
    except InvalidWheelFilename as error:
        raise SubjectError(f"the name of {path} is not that of a wheel: {error}") from error
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise SubjectError(f"the wheel {path} cannot be read: {error.strerror}") from error
    return Wheel(name, str(version), path.resolve(), digest)


def from_wheel(path: Path) -> Core:
    """Return the subject of a pytensor wheel; raise SubjectError for any other file.

    Its date is that of the newest file in the wheel, which does not change when it is copied.
    """
    wheel = read_wheel(path)
    if wheel.name != "pytensor":
        raise SubjectError(
            f"{path} is a wheel of {wheel.name}: a subject begins with pytensor; add {wheel.name} "
            f"to one, as in newest {path}"
        )
    try:
        with zipfile.ZipFile(wheel.path) as archive:
            moments = [datetime(*info.date_time, tzinfo=UTC) for info in archive.infolist()]
    except (zipfile.BadZipFile, ValueError) as error:
        raise SubjectError(f"{wheel.path} is not a readable wheel: {error}") from error
    date = max(moments, default=datetime(1980, 1, 1, tzinfo=UTC))
    return Core(
        label=wheel.label,
        requirements=(f"pytensor @ {wheel.path.as_uri()}", "numba"),
        commit=commit_of_wheel(wheel.digest, f"PyTensor {wheel.label}", date),
        date=date,
        exclude_newer=None,
        pythons=(),
    )


def from_url(url: str) -> Core:
    """Return the subject of ``pytensor @ URL``; raise SubjectError if it is not on this machine."""
    parts = urlsplit(url)
    if parts.scheme == "file" and parts.path.endswith(".whl"):
        return from_wheel(Path(unquote(parts.path)))
    path, _, reference = unquote(parts.path).rpartition("@")
    if parts.scheme != "git+file" or not path:
        raise SubjectError(
            f"{url!r} is not supported; clone the repository and give a commit of the clone, as in "
            "pytensor @ git+file:///PATH@COMMIT"
        )
    log = _git(
        Path(path), "log", "--first-parent", "--format=%H %ct", "-1000", "--end-of-options",
        f"{reference}^{{commit}}",
        problem=f"{path} has no commit {reference!r}, or is not a local git repository",
    )  # fmt: skip
    commits, seconds = zip(*(line.split() for line in log.splitlines()), strict=True)
    date = datetime.fromtimestamp(int(seconds[0]), tz=UTC)
    # Subjects are ordered by date, and the commits of a rebase all have the same second.
    same_second = sum(1 for _ in takewhile(lambda second: second == seconds[0], seconds))
    return Core(
        label=commits[0][:12],
        requirements=(f"pytensor @ git+{Path(path).as_uri()}@{commits[0]}", "numba"),
        commit=commits[0],
        date=date + timedelta(milliseconds=same_second - 1),
        exclude_newer=date + timedelta(days=1),
        pythons=(),
    )


def commits_between(repository: Path, commits: str) -> list[str]:
    """Return the commits of a range ``A..B``, without A and oldest first, as texts of subjects.

    Only first parents are followed: commits on the branch, not those merged into it. A single
    commit is a range of one. Raises SubjectError if the range is invalid or empty, and GitError.
    """
    repository = repository.resolve()
    single = [] if ".." in commits else ["--max-count=1"]
    git = Git(repository)
    for name in filter(None, commits.split("..")):
        if git.resolved(name.strip(".")) is None:
            names = git.text("for-each-ref", "--format=%(refname:short)").splitlines()
            there = no_such("branch, tag or commit", name, names, most=12)
            raise SubjectError(f"in {repository}, {there}")
    found = _git(
        repository, "rev-list", "--reverse", "--first-parent", *single, "--end-of-options", commits,
        problem=f"{commits!r} is not a range of commits in {repository}",
    )  # fmt: skip
    if not found:
        raise SubjectError(
            f"{commits!r} contains no commits in {repository}; check the order, A..B"
        )
    return [of_commit(repository, commit) for commit in found.split()]


def uncommitted(repository: Path, commit: str) -> str:
    """A sentence if files of the checked-out ``commit`` were changed and not committed; or "".

    Raises GitError.
    """
    git = Git(repository)
    if git.resolved("HEAD") != commit:
        return ""
    changed = git.run(
        "status", "--porcelain", "--untracked-files=no", found=False
    ).stdout.splitlines()
    if not changed:
        return ""
    return (
        f"{several(len(changed), 'changed file')} of {repository} "
        f"{'is' if len(changed) == 1 else 'are'} not committed: only commits are measured"
    )


def of_commit(repository: Path, commit: str) -> str:
    """The text of a subject for one commit of a repository on this machine."""
    return f"pytensor @ git+{repository.resolve().as_uri()}@{commit}"


def _git(repository: Path, *arguments: str, problem: str) -> str:
    try:
        return Git(repository).text(*arguments)
    except GitError as error:
        raise SubjectError(f"{problem}: {error}") from error
