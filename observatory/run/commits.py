"""A range of commits of a local clone, as subjects that people could have typed."""

from __future__ import annotations

import subprocess
from pathlib import Path

from observatory.run.sources import SubjectError


def commits_between(repository: Path, commits: str) -> list[str]:
    """Subjects for the commits of a range ``A..B`` (A left out, as git does), oldest first.

    Only first parents: what was on the branch, not what was merged into it. A single commit is a
    range of one. Raises SubjectError.
    """
    repository = repository.resolve()
    single = [] if ".." in commits else ["--max-count=1"]
    command = ["git", "-C", str(repository), "rev-list", "--reverse", "--first-parent", *single]
    done = subprocess.run(
        [*command, "--end-of-options", commits], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise SubjectError(
            f"{commits!r} is not a range of commits in {repository}: {done.stderr.strip()[:300]}"
        )
    found = done.stdout.split()
    if not found:
        raise SubjectError(
            f"{commits!r} contains no commits in {repository}; check the order, A..B"
        )
    return [f"pytensor @ git+{repository.as_uri()}@{commit}" for commit in found]
