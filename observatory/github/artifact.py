"""An artifact of a run, which is not trusted: a comparison and the number of its pull request.

It is read in memory and never unpacked to disk, so no name in it can lead anywhere. Two names are
allowed, each once and of bounded size; every other archive is refused. The schema bounds the
comparison, and the renderers escape all its texts.

The code of a pull request writes the number, and can name any other. So GitHub's own record of the
run (its commit, branch and repository) has to fit. The commit alone is not enough, because anybody
can push another's commit to a fork of their own.
"""

from __future__ import annotations

import io
import re
import stat
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from observatory.errors import Exit, ObservatoryError
from observatory.github.client import GitHub
from observatory.github.models import Pull, Repository, Run
from observatory.store.base.strict_json import InvalidError, read_json
from observatory.store.records.comparison import Comparison
from observatory.text.plain import shorten

COMPARISON = "comparison.json"
NUMBER = "pull-request.txt"
"""The number of the pull request in digits, to be verified by `target_of`."""
LARGEST_ZIP = 8 * 2**20
LARGEST_COMPARISON = 16 * 2**20
_BOUNDS = {COMPARISON: LARGEST_COMPARISON, NUMBER: 32}
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1
_DIGITS = re.compile(rb"[1-9][0-9]{0,8}\s*")


class RefusedError(ObservatoryError):
    """An artifact is invalid, or is not of the pull request that it names."""

    exit_code = Exit.ARTIFACT


@dataclass(frozen=True)
class Artifact:
    """The comparison in an artifact, and the pull request that it claims to be of."""

    comparison: Comparison
    claim: int | None


def read(content: bytes) -> Artifact:
    """An artifact from the bytes of a zip, or of a comparison alone, which claims nothing.

    Raises RefusedError, which names the problem.
    """
    if not content.startswith(b"PK"):
        return Artifact(_comparison(_bounded(COMPARISON, content)), None)
    if len(content) > LARGEST_ZIP:
        raise RefusedError(f"the artifact is larger than {LARGEST_ZIP:,} bytes")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            files = {one.filename: _read(archive, one) for one in _allowed(archive.infolist())}
    except RefusedError:
        raise
    # A broken archive can raise zlib.error, struct.error, EOFError, NotImplementedError,
    # RuntimeError, UnicodeDecodeError and more, depending on the version of Python.
    except Exception as error:
        raise RefusedError(f"the artifact is not a readable zip archive: {error!r:.200}") from error
    if COMPARISON not in files:
        raise RefusedError(f"the artifact contains no {COMPARISON}")
    claim = files.get(NUMBER)
    if claim is not None and not _DIGITS.fullmatch(claim):
        raise RefusedError(f"{NUMBER} is not the number of a pull request")
    return Artifact(_comparison(files[COMPARISON]), None if claim is None else int(claim))


def _allowed(entries: list[zipfile.ZipInfo]) -> list[zipfile.ZipInfo]:
    """The entries, if all of them are allowed. Raises RefusedError."""
    seen: set[str] = set()
    for entry in entries:
        if entry.orig_filename not in _BOUNDS or entry.filename not in _BOUNDS:
            raise RefusedError(
                f"the artifact contains {shorten(entry.orig_filename, 100)!r}; only {COMPARISON} "
                f"and {NUMBER} are allowed"
            )
        if entry.filename in seen:
            raise RefusedError(f"the artifact contains {entry.filename} twice")
        seen.add(entry.filename)
        kind = stat.S_IFMT(entry.external_attr >> 16)
        if kind not in (0, stat.S_IFREG):
            raise RefusedError(f"{entry.filename} in the artifact is a link, not a file")
        if entry.flag_bits & _ENCRYPTED or entry.compress_type not in _METHODS:
            raise RefusedError(f"{entry.filename} in the artifact is packed in an unusual way")
    return entries


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """The content of an entry, whose size is as declared; headers can be false."""
    most = _BOUNDS[entry.filename]
    if entry.file_size > most:
        raise RefusedError(
            f"{entry.filename} in the artifact is declared to be larger than {most:,} bytes"
        )
    with archive.open(entry) as stream:
        content = _bounded(entry.filename, stream.read(most + 1))
    if len(content) != entry.file_size:
        raise RefusedError(f"{entry.filename} in the artifact is not as large as it is declared")
    return content


def _bounded(name: str, content: bytes) -> bytes:
    if len(content) > _BOUNDS[name]:
        raise RefusedError(f"{name} in the artifact is larger than {_BOUNDS[name]:,} bytes")
    return content


def _comparison(content: bytes) -> Comparison:
    try:
        return read_json(Comparison, content)
    except InvalidError as error:
        raise RefusedError(
            f"{COMPARISON} is not what `observatory compare --json` writes: {error}"
        ) from error


@dataclass(frozen=True)
class Target:
    """A pull request, and the commit and run that were measured."""

    pull: Pull
    sha: str
    run: Run | None
    moved_on: bool


def run_of(github: GitHub, number: int) -> Run:
    """A run that a pull request started. Raises RefusedError for another, and GitHubError."""
    run = github.run(number)
    if run.event != "pull_request":
        raise RefusedError(f"run {run.id} was started by {run.event!r:.60}, not by a pull request")
    return run


def downloaded(github: GitHub, run: Run, name: str) -> Artifact:
    """The newest artifact of this name of a run. Raises RefusedError and GitHubError."""
    found = [one for one in github.artifacts(run.id, name) if not one.expired]
    if not found:
        raise RefusedError(f"run {run.id} has no artifact {name!r:.100}, or it has expired")
    if found[0].size_in_bytes > LARGEST_ZIP:
        raise RefusedError(f"the artifact of run {run.id} is larger than {LARGEST_ZIP:,} bytes")
    return read(github.artifact_zip(found[0].id, LARGEST_ZIP))


def target_of(github: GitHub, found: Artifact, run: Run | None, pull: int | None) -> Target:
    """The target of an artifact; ``pull``, which a person gave, overrides the artifact's number.

    Raises RefusedError if the run is of another pull request, and GitHubError.
    """
    number = pull or found.claim
    if number is None:
        raise RefusedError(f"the artifact does not name its pull request: it contains no {NUMBER}")
    the_pull = github.pull(number)
    older = run is not None and moved_on(run, the_pull, lambda: github.commits(number))
    return Target(the_pull, run.head_sha if run else the_pull.head.sha, run, older)


def with_origin(text: str, target: Target) -> str:
    """A comment with a last line that names commit and run, both according to GitHub."""
    marker, _, rest = text.partition("\n")
    origin = f"Commit `{target.sha[:10]}`"
    if target.run is not None:
        origin += f", measured by [run {target.run.id}]({target.run.html_url})"
    note = f"**The pull request has newer commits:** these results are for `{target.sha[:10]}`.\n\n"
    return f"{marker}\n{note * target.moved_on}{rest.rstrip()}\n\n{origin}.\n"


def moved_on(run: Run, pull: Pull, commits: Callable[[], Sequence[str]]) -> bool:
    """Whether the pull request has newer commits than the measured one.

    ``commits`` lists those of the pull request; it is called only if the newest is another.
    Raises RefusedError if the run is not of this pull request.
    """
    if not _same_repository(run.head_repository, pull) or run.head_branch != pull.head.ref:
        raise RefusedError(
            f"the artifact names pull request {pull.number}, but run {run.id} is of another "
            "branch or another fork"
        )
    if run.head_sha == pull.head.sha:
        return False
    if run.head_sha not in commits():
        raise RefusedError(
            f"the artifact names pull request {pull.number}, but commit {run.head_sha[:10]} of "
            f"run {run.id} is not one of its commits, or was removed"
        )
    return True


def _same_repository(repository: Repository | None, pull: Pull) -> bool:
    """Whether a run's repository is that of a pull request.

    If one was deleted, the owners are compared; if both were, branch and commit have to do.
    """
    if repository is not None and pull.head.repo is not None:
        return repository.id == pull.head.repo.id
    owner = repository.owner if repository is not None else None
    if owner is not None and pull.head.user is not None:
        return owner.id == pull.head.user.id
    return repository is None and pull.head.repo is None
