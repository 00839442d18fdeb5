from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from observatory.numba_bound.propose import FAILED, main
from observatory.numba_bound.status import Status
from tests.factories_git import git

BRANCH = "observatory/numba-upper-bound"
_GH = """#!{python}
import json, pathlib, sys
log = pathlib.Path({log!r})
with log.open("a") as stream:
    stream.write(json.dumps(sys.argv[1:]) + "\\n")
if sys.argv[1:3] == ["pr", "list"]:
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    print(json.dumps([{{"number": 41}}] * any(line[:2] == ["pr", "create"] for line in lines)))
if sys.argv[1:3] == ["pr", "create"]:
    print("https://example.org/pull/41")
"""


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with a pin, a remote, and a `gh` that writes down what it is asked."""
    git(tmp_path, "init", "--quiet", "--bare", "--initial-branch=main", "remote.git")
    git(tmp_path, "clone", "--quiet", "remote.git", "checkout")
    where = tmp_path / "checkout"
    (where / "pyproject.toml").write_text("numba<=0.67\n")
    git(where, "checkout", "--quiet", "-b", "main")
    git(where, "add", ".")
    git(where, "commit", "--quiet", "-m", "first")
    git(where, "push", "--quiet", "origin", "main")
    gh = tmp_path / "bin" / "gh"
    gh.parent.mkdir()
    gh.write_text(_GH.format(python=sys.executable, log=str(tmp_path / "gh.log")))
    gh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{gh.parent}{os.pathsep}{os.environ['PATH']}")
    return where


def raising(to: str, status: int = 0):  # type: ignore[no-untyped-def]
    """A stand-in for the script that raises the bound."""

    def raise_bound(arguments: Sequence[str]) -> int:
        path, _, text, *_ = arguments
        if status in (0, 25, 26):
            Path(path).write_text(f"numba<={to}\n")
            Path(text).write_text(f"Raise numba to {to}\n\nBecause.\n")
        return status

    return raise_bound


def asked(checkout: Path) -> list[list[str]]:
    log = checkout.parent / "gh.log"
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def verbs(checkout: Path) -> list[str]:
    return [words[1] for words in asked(checkout)]


def test_a_new_bound_becomes_one_pull_request(checkout: Path) -> None:
    assert main([str(checkout)], raising("0.68")) == 0
    remote = checkout.parent / "remote.git"
    assert git(remote, "show", f"{BRANCH}:pyproject.toml") == "numba<=0.68"
    assert git(remote, "log", "--format=%s", BRANCH) == "Raise numba to 0.68\nfirst"
    assert verbs(checkout) == ["list", "create"]
    created = asked(checkout)[1]
    assert created[created.index("--base") + 1] == "main"
    assert created[created.index("--title") + 1] == "Raise numba to 0.68"
    assert "close and reopen it" in created[created.index("--body") + 1]


def test_a_second_week_brings_it_up_to_date(checkout: Path) -> None:
    main([str(checkout)], raising("0.68"))
    git(checkout, "checkout", "--quiet", "--force", "main")
    git(checkout, "reset", "--quiet", "--hard", "origin/main")
    assert main([str(checkout)], raising("0.69")) == 0
    remote = checkout.parent / "remote.git"
    assert git(remote, "log", "--format=%s", BRANCH) == "Raise numba to 0.69\nfirst"
    assert verbs(checkout) == ["list", "create", "list", "edit"]
    assert asked(checkout)[3][2] == "41"


def test_a_branch_that_somebody_has_worked_on_is_left_alone(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    git(checkout, "checkout", "--quiet", "-b", "theirs")
    git(checkout, "commit", "--quiet", "--allow-empty", "-m", "by hand")
    git(checkout, "push", "--quiet", "origin", f"theirs:{BRANCH}")
    git(checkout, "checkout", "--quiet", "main")
    assert main([str(checkout)], raising("0.68")) == 0
    assert f"ada@example.org has committed to {BRANCH}" in capsys.readouterr().out
    assert asked(checkout) == []
    assert git(checkout.parent / "remote.git", "log", "-1", "--format=%s", BRANCH) == "by hand"


@pytest.mark.parametrize("status", [Status.DO_NOT_MERGE, Status.NOT_JUDGED])
def test_what_is_bad_is_proposed_all_the_same_as_its_text_says_so(
    checkout: Path, status: Status
) -> None:
    assert main([str(checkout), "--judge"], raising("0.68", status)) == 0
    assert verbs(checkout) == ["list", "create"]


def test_a_text_that_was_written_elsewhere_is_of_the_change_that_is_made_here(
    checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A job without rights has measured, and this one runs nothing of the new numba."""
    text = tmp_path / "text.md"
    text.write_text("Do not merge: raise numba to 0.68\n\nIt is slow.\n::add-mask::a\x1b[2K\n")
    words = [str(checkout), "--text", str(text)]
    assert main(words, raising("0.69")) == FAILED
    assert "is not about this change (Raise numba to 0.69)" in capsys.readouterr().err
    assert main([*words, "--summary", str(tmp_path / "summary.md")], raising("0.68")) == 0
    (created,) = [one for one in asked(checkout) if one[1] == "create"]
    assert created[created.index("--title") + 1] == "Do not merge: raise numba to 0.68"
    body = created[created.index("--body") + 1]
    assert body.startswith("It is slow.\n: :add-mask::a\N{REPLACEMENT CHARACTER}[2K")
    text.write_bytes(b"x" * 300_000)
    assert main(words, raising("0.70")) == FAILED
    assert "is larger than" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([*words, "--judge"], raising("0.68"))


@pytest.mark.parametrize(
    ("status", "ends"), [(Status.LEFT, 0), (Status.NO_PIN, 21), (Status.NO_ANSWER, 23), (2, 2)]
)
def test_where_nothing_is_raised_nothing_is_proposed(
    checkout: Path, status: int, ends: int
) -> None:
    assert main([str(checkout)], raising("0.68", status)) == ends
    assert asked(checkout) == []


def test_nothing_due_is_nothing_done(checkout: Path) -> None:
    assert main([str(checkout)], raising("0.67")) == 0
    assert asked(checkout) == []


def test_a_dry_run_pushes_nothing(checkout: Path, tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    assert main([str(checkout), "--dry-run", "--summary", str(summary)], raising("0.68")) == 0
    assert asked(checkout) == []
    assert git(checkout.parent / "remote.git", "branch", "--list", BRANCH) == ""
    assert summary.read_text().startswith("### Raise numba to 0.68\n\nthis is a dry run")


def test_what_git_or_gh_cannot_do_is_said(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    git(checkout, "remote", "set-url", "origin", str(checkout.parent / "gone.git"))
    assert main([str(checkout)], raising("0.68")) == FAILED
    assert "git ls-remote failed" in capsys.readouterr().err
