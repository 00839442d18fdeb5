from __future__ import annotations

from pathlib import Path

import pytest

from observatory.run.branch import BranchError
from observatory.run.pages import push_pages
from tests.factories_git import git


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone whose remote has a site of somebody else on gh-pages."""
    where = tmp_path / "clone"
    git(tmp_path, "init", "--quiet", "--bare", "--initial-branch=main", "origin.git")
    git(tmp_path, "clone", "--quiet", "origin.git", "clone")
    (where / "index.html").write_text("theirs")
    git(where, "add", ".")
    git(where, "commit", "--quiet", "-m", "site")
    git(where, "push", "--quiet", "origin", "HEAD:gh-pages")
    return where


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    made = tmp_path / "html"
    (made / "data").mkdir(parents=True)
    (made / "index.html").write_text("ours")
    (made / "data" / "a.json").write_text("{}")
    return made


def listed(where: Path, branch: str) -> dict[str, str]:
    git(where, "fetch", "--quiet", "origin", branch)
    names = git(where, "ls-tree", "-r", "--name-only", "FETCH_HEAD").splitlines()
    return {name: git(where, "show", f"FETCH_HEAD:{name}") for name in names}


def test_pages_go_below_a_path_and_the_site_beside_them_stays(clone: Path, pages: Path) -> None:
    assert push_pages(pages, clone, "origin", "gh-pages", "observatory").startswith("pushed ")
    assert listed(clone, "gh-pages") == {
        ".nojekyll": "", "index.html": "theirs", "observatory/data/a.json": "{}",
        "observatory/index.html": "ours",
    }  # fmt: skip
    (pages / "data" / "a.json").unlink()
    push_pages(pages, clone, "origin", "gh-pages", "observatory")
    assert "observatory/data/a.json" not in listed(clone, "gh-pages")
    said = push_pages(pages, clone, "origin", "gh-pages", "observatory")
    assert said == "gh-pages:observatory of origin has these pages already."


def test_a_branch_of_its_own_holds_the_pages_alone(clone: Path, pages: Path) -> None:
    push_pages(pages, clone, "origin", "observatory-pages", "")
    (pages / "data" / "a.json").unlink()
    push_pages(pages, clone, "origin", "observatory-pages", "")
    assert listed(clone, "observatory-pages") == {".nojekyll": "", "index.html": "ours"}
    assert listed(clone, "gh-pages") == {"index.html": "theirs"}


@pytest.mark.parametrize("path", ["../x", "/x", "a/.git/b"])
def test_no_path_leaves_the_branch(clone: Path, pages: Path, path: str) -> None:
    with pytest.raises(BranchError, match="is not a path within a branch"):
        push_pages(pages, clone, "origin", "gh-pages", path)


def test_what_is_no_site_is_refused(clone: Path, tmp_path: Path) -> None:
    with pytest.raises(BranchError, match=r"has no index\.html"):
        push_pages(tmp_path, clone, "origin", "gh-pages", "observatory")
