"""Whether what a run measured belongs to the pull request that its artifact names.

The number in the artifact is written by the code of a pull request, which may name any other. What
GitHub itself says of the run (its commit, branch and repository) is not: that has to fit. A commit
alone does not do, as anybody can push another's commit to a fork of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from observatory.github.errors import RefusedError
from observatory.github.models import Pull, Repository, Run

EVENT = "pull_request"


def check_run(run: Run) -> None:
    """Raises RefusedError for a run that no pull request started."""
    if run.event != EVENT:
        raise RefusedError(f"run {run.id} was started by {run.event!r:.60}, not by a pull request")


def moved_on(run: Run, pull: Pull, commits: Callable[[], Sequence[str]]) -> bool:
    """Whether the pull request has newer commits than the one that was measured.

    ``commits`` lists those of the pull request; it is asked only if the newest is another.
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
            f"run {run.id} is none of its commits (any more)"
        )
    return True


def _same_repository(ran: Repository | None, pull: Pull) -> bool:
    """Forks may be deleted: then their owners are compared, and two that are gone are the same.

    Branch and commit have to fit besides.
    """
    if ran is None or pull.head.repo is None:
        owner = ran.owner if ran is not None else None
        if owner is not None and pull.head.user is not None:
            return owner.id == pull.head.user.id
        return ran is None and pull.head.repo is None
    return ran.id == pull.head.repo.id
