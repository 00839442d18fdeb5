"""Subjects that are no release: a wheel on disk, a commit of a repository on disk."""

from __future__ import annotations

import hashlib
import subprocess
import zipfile
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from observatory.errors import ObservatoryError
from observatory.run.history import commit_of_wheel


class SubjectError(ObservatoryError, ValueError):
    """Raised when a text names no subject; the message says what is accepted."""


class Core(NamedTuple):
    """A subject before its extras and Python."""

    label: str
    requirements: tuple[str, ...]
    commit: str
    date: datetime
    exclude_newer: datetime | None
    pythons: tuple[str, ...]
    """The minor versions known to work; empty: not known."""


def read_wheel(path: Path) -> tuple[str, str, Path, str]:
    """Name, version, absolute path and SHA-256 of a wheel; raise `SubjectError` if it is none."""
    try:
        name, version, _, _ = parse_wheel_filename(path.name)
    except InvalidWheelFilename as error:
        raise SubjectError(f"the name of {path} is not that of a wheel: {error}") from error
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise SubjectError(f"the wheel {path} cannot be read: {error.strerror}") from error
    return name, str(version), path.resolve(), digest


def from_wheel(path: Path) -> Core:
    """A wheel of pytensor; raise `SubjectError` for any other file."""
    name, version, absolute, digest = read_wheel(path)
    if name != "pytensor":
        raise SubjectError(
            f"{path} is a wheel of {name}: a subject begins with pytensor; add {name} to one, "
            f"as in newest {path}"
        )
    label = f"{version}+whl.{digest[:8]}"
    date = _newest_member(absolute)
    return Core(
        label=label,
        requirements=(f"pytensor @ {absolute.as_uri()}", "numba"),
        commit=commit_of_wheel(digest, f"PyTensor {label}", date),
        date=date,
        exclude_newer=None,
        pythons=(),
    )


def _newest_member(path: Path) -> datetime:
    """The date of the newest file in a wheel: it travels with the wheel, unlike the file's own."""
    try:
        with zipfile.ZipFile(path) as archive:
            moments = [datetime(*info.date_time, tzinfo=UTC) for info in archive.infolist()]
    except (zipfile.BadZipFile, ValueError) as error:
        raise SubjectError(f"{path} is not a readable wheel: {error}") from error
    return max(moments, default=datetime(1980, 1, 1, tzinfo=UTC))


def from_url(url: str) -> Core:
    """What stands behind ``pytensor @``; raise `SubjectError` if it is not on this machine."""
    parts = urlsplit(url)
    if parts.scheme == "file" and parts.path.endswith(".whl"):
        return from_wheel(Path(unquote(parts.path)))
    place, _, reference = unquote(parts.path).rpartition("@")
    if parts.scheme != "git+file" or not place:
        raise SubjectError(
            f"{url!r} is not supported; clone the repository and give a commit of the clone, as in "
            "pytensor @ git+file:///PATH@COMMIT"
        )
    commit, seconds, before = _ask_git(Path(place), reference)
    date = datetime.fromtimestamp(seconds, tz=UTC)
    return Core(
        label=commit[:12],
        requirements=(f"pytensor @ git+{Path(place).as_uri()}@{commit}", "numba"),
        commit=commit,
        # Subjects are in the order of their dates, and what is rebased is of one second.
        date=date + timedelta(milliseconds=before),
        exclude_newer=date + timedelta(days=1),
        pythons=(),
    )


def _ask_git(repository: Path, reference: str) -> tuple[str, int, int]:
    """The full hash and the committer's date of a commit, and how many of that date it follows.

    The date is in seconds since 1970; followed are first parents, 999 at most.
    """
    args = ["git", "-C", str(repository), "log", "--first-parent", "--format=%H %ct", "-1000"]
    try:
        done = subprocess.run(
            [*args, "--end-of-options", f"{reference}^{{commit}}"],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError) as error:
        raise SubjectError(
            f"{repository} has no commit {reference!r}, or is not a local git repository"
        ) from error
    commits, dates = zip(*(line.split() for line in done.stdout.splitlines()), strict=True)
    same = takewhile(lambda date: date == dates[0], dates)
    return commits[0], int(dates[0]), len(list(same)) - 1
