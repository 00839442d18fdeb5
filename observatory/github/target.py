"""The pull request and commit that a comparison belongs to, according to GitHub itself.

The number in an artifact is written by the code of a pull request, which can name any other. So
GitHub's own record of the run (its commit, branch and repository) has to fit. The commit alone is
not enough, because anybody can push another's commit to a fork of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from observatory.github import artifact
from observatory.github.artifact import LARGEST_ZIP, Artifact
from observatory.github.client import GitHub
from observatory.github.errors import RefusedError
from observatory.github.models import Pull, Repository, Run


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
    return artifact.read(github.artifact_zip(found[0].id, LARGEST_ZIP))


def target_of(github: GitHub, found: Artifact, run: Run | None, pull: int | None) -> Target:
    """The target of an artifact; ``pull``, which a person gave, overrides the artifact's number.

    Raises RefusedError if the run is of another pull request, and GitHubError.
    """
    number = pull or found.claim
    if number is None:
        raise RefusedError(
            f"the artifact does not name its pull request: it contains no {artifact.NUMBER}"
        )
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
