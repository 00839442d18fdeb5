"""Of which pull request and which commit a comparison is, as GitHub itself knows it."""

from __future__ import annotations

from dataclasses import dataclass

from observatory.github import artifact, pull_request_match
from observatory.github.artifact import LARGEST_ZIP, Artifact
from observatory.github.client import GitHub
from observatory.github.errors import RefusedError
from observatory.github.models import Pull, Run


@dataclass(frozen=True)
class Target:
    """A pull request, and what was measured of it."""

    pull: Pull
    sha: str
    run: Run | None
    moved_on: bool = False


def run_of(github: GitHub, number: int) -> Run:
    """A run that a pull request started. Raises RefusedError for another, and GitHubError."""
    run = github.run(number)
    pull_request_match.check_run(run)
    return run


def downloaded(github: GitHub, run: Run, name: str) -> Artifact:
    """The newest artifact of this name of a run. Raises RefusedError and GitHubError."""
    found = [one for one in github.artifacts(run.id, name) if not one.expired]
    if not found:
        raise RefusedError(f"run {run.id} has no artifact {name!r:.100} (any more)")
    if found[0].size_in_bytes > LARGEST_ZIP:
        raise RefusedError(f"the artifact of run {run.id} is larger than {LARGEST_ZIP:,} bytes")
    return artifact.read(github.artifact_zip(found[0].id, LARGEST_ZIP))


def target_of(github: GitHub, found: Artifact, run: Run | None, pull: int | None) -> Target:
    """Where an artifact belongs. ``pull`` is what a person says, and outweighs its claim.

    Raises RefusedError if the run is of another pull request, and GitHubError.
    """
    number = pull or found.claim
    if number is None:
        raise RefusedError(
            f"the artifact does not name its pull request: it holds no {artifact.NUMBER}"
        )
    the_pull = github.pull(number)
    if run is None:
        return Target(the_pull, the_pull.head.sha, None)
    older = pull_request_match.moved_on(run, the_pull, lambda: github.commits(number))
    return Target(the_pull, run.head_sha, run, older)


def with_origin(text: str, target: Target) -> str:
    """A comment that also says of which commit and run it is: that is from GitHub alone."""
    marker, _, rest = text.partition("\n")
    of = f"Commit `{target.sha[:10]}`"
    if target.run is not None:
        of += f", measured by [run {target.run.id}]({target.run.html_url})"
    note = f"**The pull request has moved on:** this is of `{target.sha[:10]}`.\n\n"
    return f"{marker}\n{note * target.moved_on}{rest.rstrip()}\n\n{of}.\n"
