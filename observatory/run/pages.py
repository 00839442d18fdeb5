"""Pages on a branch of a repository that may hold another site, committed below a path."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from observatory.run.branch import Branch, BranchError


class PagesBranch(Branch):
    """A branch of any content; only the files below the path are changed."""

    holds = frozenset()


def push_pages(pages: Path, repository: Path, remote: str, name: str, path: str) -> str:
    """Replace what is below ``path`` of a branch by pages, push it, and return what was done.

    Raises BranchError, and NotMovedError if it cannot be pushed.
    """
    below = PurePosixPath(path)
    if below.is_absolute() or ".." in below.parts or ".git" in below.parts:
        raise BranchError(f"{path!r} is not a path within a branch")
    if not (pages / "index.html").is_file():
        raise BranchError(f"{pages} has no index.html; build the pages first")

    def edit(work: Path, _: Sequence[Path]) -> str:
        there = work / below
        for old in [there] if below.parts else list(work.iterdir()):
            shutil.rmtree(old, ignore_errors=True) if old.is_dir() else old.unlink(missing_ok=True)
        shutil.copytree(pages, there, dirs_exist_ok=True)
        (work / ".nojekyll").touch()  # else GitHub Pages leaves out files that begin with _
        return "Pages of the observatory\n"

    done = PagesBranch(repository, name, remote).change(edit)
    where = f"{name}:{path}" if below.parts else name
    if done.before == done.after:
        return f"{where} of {remote} has these pages already."
    return f"pushed {str(done.after)[:10]} to {where} of {remote}."
