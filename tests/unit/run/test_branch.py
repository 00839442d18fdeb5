from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from observatory.run import branch as module
from observatory.run.branch import Branch, BranchError, NotMovedError
from observatory.run.git import Git, GitError, reason_in
from tests.factories_git import git


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    """A bare repository with a branch of code."""
    bare, code = tmp_path / "remote.git", tmp_path / "code"
    git(tmp_path, "init", "--quiet", "--bare", "--initial-branch=main", str(bare))
    git(tmp_path, "init", "--quiet", "--initial-branch=main", str(code))
    (code / "code.py").write_text("x = 1\n")
    git(code, "add", ".")
    git(code, "commit", "--quiet", "-m", "code")
    git(code, "push", "--quiet", str(bare), "main")
    return bare


@pytest.fixture
def clone(remote: Path, tmp_path: Path) -> Path:
    return cloned(remote, tmp_path / "clone")


def cloned(remote: Path, where: Path) -> Path:
    git(remote, "clone", "--quiet", str(remote), str(where))
    return where


def adding(name: str, content: str = "x") -> module.Edit:
    """An edit that adds a sample, and makes the branch one of results."""

    def edit(work: Path, others: Sequence[Path]) -> str:
        for one in [*others, None]:
            found = [] if one is None else list((one / "samples").iterdir())
            for path in found:
                (work / "samples" / path.name).write_bytes(path.read_bytes())
            (work / "samples").mkdir(exist_ok=True)
        (work / "samples" / name).write_text(content)
        return f"adds {name}\n"

    return edit


def names(where: Path, ref: str) -> set[str]:
    return set(git(where, "ls-tree", "-r", "--name-only", ref).split())


def test_a_branch_that_is_not_there_begins_without_parents(clone: Path) -> None:
    done = Branch(clone, "results").change(adding("a"))
    assert done.before is None
    assert git(clone, "rev-list", "--parents", "results") == done.after
    assert names(clone, "results") == {"samples/a"}


def test_nothing_else_of_the_repository_is_touched(clone: Path) -> None:
    (clone / "code.py").write_text("changed = True\n")
    (clone / "new.py").write_text("")
    git(clone, "add", "new.py")
    before = (git(clone, "status", "--porcelain"), git(clone, "rev-parse", "HEAD"))
    Branch(clone, "results", "origin").change(adding("a"))
    assert (git(clone, "status", "--porcelain"), git(clone, "rev-parse", "HEAD")) == before
    assert git(clone, "branch", "--list", "--format=%(refname:short)") == "main"


def test_a_push_adds_to_what_others_have_pushed(remote: Path, clone: Path, tmp_path: Path) -> None:
    other = cloned(remote, tmp_path / "other")
    Branch(other, "results", "origin").change(adding("a"))
    done = Branch(clone, "results", "origin").change(adding("b"))
    assert names(remote, "results") == {"samples/a", "samples/b"}
    assert git(remote, "rev-list", "--count", "results") == "2"
    assert git(clone, "rev-parse", "origin/results") == done.after


def test_nothing_new_is_no_commit(remote: Path, clone: Path) -> None:
    first = Branch(clone, "results", "origin").change(adding("a"))
    again = Branch(clone, "results", "origin").change(adding("a"))
    assert (again.before, again.after) == (first.after, first.after)


def test_a_dry_run_moves_nothing(remote: Path, clone: Path) -> None:
    done = Branch(clone, "results", "origin").change(adding("a"), dry_run=True)
    assert (done.before, done.after) == (None, None)
    assert git(remote, "branch", "--list", "results") == ""


def test_whoever_was_faster_is_added_to_and_not_overwritten(
    remote: Path, clone: Path, tmp_path: Path
) -> None:
    other = cloned(remote, tmp_path / "other")
    Branch(other, "results", "origin").change(adding("a"))
    calls: list[set[str]] = []

    def slow(work: Path, others: Sequence[Path]) -> str:
        calls.append({path.name for path in (work / "samples").iterdir()})
        if len(calls) == 1:
            Branch(other, "results", "origin").change(adding("b"))
        return adding("c")(work, others)

    done = Branch(clone, "results", "origin", wait=lambda _: None).change(slow)
    assert calls == [{"a"}, {"a", "b"}]
    assert done.tries == 2
    assert names(remote, "results") == {"samples/a", "samples/b", "samples/c"}
    assert git(remote, "rev-list", "--count", "results") == "3"


@pytest.mark.parametrize("pushed", [False, True])
def test_a_branch_that_two_begin_at_once_holds_both(
    remote: Path, clone: Path, tmp_path: Path, pushed: bool
) -> None:
    other = cloned(remote, tmp_path / "other") if pushed else clone
    name = "origin" if pushed else None
    calls = []

    def slow(work: Path, others: Sequence[Path]) -> str:
        calls.append(work)
        if len(calls) == 1:
            Branch(other, "results", name).change(adding("a"))
        return adding("b")(work, others)

    Branch(clone, "results", name, wait=lambda _: None).change(slow)
    assert names(remote if pushed else clone, "results") == {"samples/a", "samples/b"}


def test_five_at_once_lose_nothing(remote: Path, tmp_path: Path) -> None:
    clones = [cloned(remote, tmp_path / f"clone{number}") for number in range(5)]
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            Branch(clones[number], "results", "origin").change(adding(f"s{number}"))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert names(remote, "results") == {f"samples/s{number}" for number in range(5)}
    assert git(remote, "rev-list", "--count", "--no-merges", "results") == "5"


def test_who_is_always_too_late_gives_up_with_a_sentence(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TRIES", 2)
    number = iter(range(9))

    def overtaken(work: Path, others: Sequence[Path]) -> str:
        Branch(clone, "results").change(adding(f"other{next(number)}"))
        return adding("mine")(work, others)

    with pytest.raises(NotMovedError, match="moved by others 2 times"):
        Branch(clone, "results", wait=lambda _: None).change(overtaken)
    assert "samples/mine" not in names(clone, "results")


@pytest.mark.parametrize("lock", ["clone", "remote"])
def test_a_lock_that_a_killed_process_left_is_named(
    remote: Path, clone: Path, monkeypatch: pytest.MonkeyPatch, lock: str, tmp_path: Path
) -> None:
    monkeypatch.setattr(module, "TRIES", 2)
    branch = Branch(clone, "results", None if lock == "clone" else "origin", lambda _: None)
    branch.change(adding("a"))
    Branch(cloned(remote, tmp_path / "other"), "results", "origin").change(adding("b"))
    refs = {"clone": clone / ".git/refs/heads", "remote": remote / "refs/heads"}
    left = refs[lock] / "results.lock"
    left.parent.mkdir(parents=True, exist_ok=True)
    left.touch()
    with pytest.raises(NotMovedError, match=r"locked by /.*/results\.lock, .* remove that file"):
        branch.change(adding("c"))
    left.unlink()
    assert branch.change(adding("c")).tries == 1


def test_a_lock_of_the_tracking_branch_hides_no_results(
    remote: Path, clone: Path, tmp_path: Path
) -> None:
    other = Branch(cloned(remote, tmp_path / "other"), "results", "origin")
    other.change(adding("a"))
    left = clone / ".git/refs/remotes/origin/results.lock"
    left.touch()
    assert_used(Branch(clone, "results", "origin", lambda _: None), remote, tmp_path / "there")


def assert_used(branch: Branch, remote: Path, there: Path) -> None:
    """A branch with a sample at its remote is checked out and gets another one."""
    assert branch.checkout(there)
    assert (there / "samples" / "a").exists()
    branch.change(adding("b"))
    assert names(remote, branch.name) == {"samples/a", "samples/b"}


def test_an_old_branch_whose_name_is_the_beginning_of_a_new_one_is_not_in_its_way(
    remote: Path, clone: Path, tmp_path: Path
) -> None:
    Branch(clone, "results", "origin").change(adding("a"))
    git(remote, "branch", "moved", "results")
    git(remote, "branch", "-D", "results")
    git(remote, "branch", "-m", "moved", "results/pytensor")
    branch = Branch(clone, "results/pytensor", "origin", lambda _: None)
    assert_used(branch, remote, tmp_path / "there")


def test_a_push_takes_a_commit_that_only_this_clone_has_although_nothing_is_added(
    remote: Path, clone: Path
) -> None:
    mine = Branch(clone, "results").change(adding("a"))
    done = Branch(clone, "results", "origin").change(adding("a"))
    assert (done.before, done.after) == (None, mine.after)
    assert git(remote, "rev-parse", "results") == mine.after
    again = Branch(clone, "results", "origin").change(adding("a"))
    assert (again.before, again.after) == (mine.after, mine.after)


def test_what_was_committed_here_goes_along_with_the_push(remote: Path, clone: Path) -> None:
    Branch(clone, "results").change(adding("here"))
    done = Branch(clone, "results", "origin").change(adding("there"))
    assert names(remote, "results") == {"samples/here", "samples/there"}
    assert git(clone, "rev-parse", "results") == done.after


def test_both_histories_stay_where_local_and_remote_went_apart(
    remote: Path, clone: Path, tmp_path: Path
) -> None:
    other = cloned(remote, tmp_path / "other")
    mine = Branch(clone, "results").change(adding("mine"))
    theirs = Branch(other, "results", "origin").change(adding("theirs"))
    done = Branch(clone, "results", "origin").change(adding("new"))
    parents = git(remote, "rev-list", "--parents", "--max-count=1", "results").split()[1:]
    assert parents == [theirs.after, mine.after]
    assert names(remote, "results") == {"samples/mine", "samples/theirs", "samples/new"}
    assert git(clone, "rev-parse", "results") == done.after


def test_a_branch_that_is_checked_out_is_not_moved_under_its_reader(
    clone: Path, tmp_path: Path
) -> None:
    first = Branch(clone, "results").change(adding("a"))
    git(clone, "worktree", "add", "--quiet", str(tmp_path / "tree"), "results")
    with pytest.raises(BranchError, match=r"is checked out in .*tree"):
        Branch(clone, "results").change(adding("b"))
    Branch(clone, "results", "origin").change(adding("b"))
    assert git(clone, "rev-parse", "results") == first.after
    assert names(clone, "origin/results") == {"samples/a", "samples/b"}


def test_a_branch_of_something_else_is_refused(clone: Path) -> None:
    git(clone, "branch", "other", "main")
    with pytest.raises(BranchError, match=r"contains code\.py and no results"):
        Branch(clone, "other").change(adding("a"))


def test_a_checkout_holds_what_the_branch_holds(clone: Path, tmp_path: Path) -> None:
    assert not Branch(clone, "results").checkout(tmp_path / "none")
    Branch(clone, "results", "origin").change(adding("a", "content"))
    assert Branch(clone, "results", "origin").checkout(tmp_path / "out")
    assert (tmp_path / "out" / "samples" / "a").read_text() == "content"
    with pytest.raises(BranchError, match="exists already"):
        Branch(clone, "results", "origin").checkout(tmp_path / "out")


def test_bytes_stay_whatever_git_is_set_to(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(clone, "config", "core.autocrlf", "true")
    Branch(clone, "results").change(adding("a", "one\ntwo\r\n"))
    assert git(clone, "cat-file", "-s", "results:samples/a") == "9"
    seen = []

    def look(work: Path, _: Sequence[Path]) -> str:
        seen.append((work / "samples" / "a").read_bytes())
        return ""

    Branch(clone, "results").change(look)
    assert seen == [b"one\ntwo\r\n"]


def test_a_link_on_the_branch_leads_nowhere(clone: Path, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    Branch(clone, "results").change(adding("a"))
    git(clone, "worktree", "add", "--quiet", str(tree), "results")
    (tree / "benchmarks.json").symlink_to(tmp_path / "victim")
    git(tree, "add", ".")
    git(tree, "commit", "--quiet", "-m", "link")
    git(clone, "worktree", "remove", "--force", str(tree))

    def write(work: Path, _: Sequence[Path]) -> str:
        assert not (work / "benchmarks.json").is_symlink()
        (work / "benchmarks.json").write_text("{}")
        return ""

    Branch(clone, "results").change(write)
    assert not (tmp_path / "victim").exists()


def test_hooks_and_variables_of_the_caller_are_not_obeyed(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = clone / ".git" / "hooks" / "pre-push"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    done = Branch(clone, "results", "origin").change(adding("a"))
    assert done.after is not None


def test_a_commit_needs_no_name_of_yours(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (nothing := tmp_path / "empty").touch()
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(nothing))
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", str(nothing))
    Branch(clone, "results").change(adding("a"))
    assert git(clone, "log", "-1", "--format=%an <%ae>", "results") == (
        "observatory <observatory@localhost>"
    )


def test_a_shallow_clone_can_publish(remote: Path, clone: Path, tmp_path: Path) -> None:
    Branch(clone, "results", "origin").change(adding("a"))
    Branch(clone, "results", "origin").change(adding("b"))
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "--quiet", "--depth=1", remote.as_uri(), str(shallow))
    Branch(shallow, "results", "origin").change(adding("c"))
    assert names(remote, "results") == {"samples/a", "samples/b", "samples/c"}
    assert git(remote, "rev-list", "--count", "results") == "3"


@pytest.mark.parametrize(
    ("name", "remote_name", "said"),
    [
        ("-x", None, "cannot be the name of a branch"),
        ("a..b", None, "cannot be the name of a branch"),
        ("results", "upstream", "has no remote 'upstream'"),
    ],
)
def test_a_mistake_is_answered_in_a_sentence(
    clone: Path, name: str, remote_name: str | None, said: str
) -> None:
    with pytest.raises(BranchError, match=said):
        Branch(clone, name, remote_name)


def test_where_there_is_no_repository_it_is_said(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="is not a git repository"):
        Branch(tmp_path / "none", "results")
    with pytest.raises(GitError, match="is not a git repository: give the path of a clone"):
        Git(tmp_path)
    (tmp_path / ".git").write_text("gitdir: /nowhere\n")  # a worktree whose clone was moved
    with pytest.raises(GitError, match="fatal: not a git repository: /nowhere"):
        Git(tmp_path)


def test_a_remote_that_cannot_be_reached_is_said_without_its_password(clone: Path) -> None:
    git(clone, "remote", "set-url", "origin", "https://me:secret@127.0.0.1:1/x.git")
    with pytest.raises(NotMovedError, match="cannot be reached") as raised:
        Branch(clone, "results", "origin").change(adding("a"))
    assert "secret" not in str(raised.value)
    assert (
        reason_in("fatal: https://me:secret@host/x not found") == "fatal: https://host/x not found"
    )


def test_a_push_that_is_refused_is_said_and_not_repeated(remote: Path, clone: Path) -> None:
    hook = remote / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho 'the branch is protected' >&2\nexit 1\n")
    hook.chmod(0o755)
    calls = []

    def edit(work: Path, others: Sequence[Path]) -> str:
        calls.append(work)
        return adding("a")(work, others)

    with pytest.raises(NotMovedError, match=r"cannot be pushed to origin: .*declined"):
        Branch(clone, "results", "origin").change(edit)
    assert len(calls) == 1


_PUBLISHER = """
    import sys
    from pathlib import Path
    from observatory.run.branch import Branch

    def edit(work, others):
        (work / "samples").mkdir(exist_ok=True)
        for number in range(50):
            (work / "samples" / f"{sys.argv[2]}-{number}").write_text("x" * 1000)
        return "fifty"

    print("ready", flush=True)
    Branch(Path(sys.argv[1]), "results", "origin").change(edit)
"""


def test_a_publisher_that_is_killed_leaves_the_old_or_the_new(
    remote: Path, clone: Path, tmp_path: Path
) -> None:
    Branch(clone, "results", "origin").change(adding("a"))
    script = tmp_path / "publisher.py"
    script.write_text(textwrap.dedent(_PUBLISHER))
    for number in range(6):
        process = subprocess.Popen(
            [sys.executable, str(script), str(clone), str(number)],
            stdout=subprocess.PIPE, cwd=Path(__file__).parents[3],
            env={**os.environ, "TMPDIR": str(tmp_path)},  # what a kill leaves behind
        )  # fmt: skip
        assert process.stdout is not None
        process.stdout.readline()
        try:
            process.wait(0.03 * number)
        except subprocess.TimeoutExpired:
            process.kill()
        process.wait()
        process.stdout.close()
        git(remote, "fsck", "--no-dangling")
        there = names(remote, "results")
        for each in range(number + 1):
            mine = {one for one in there if one.startswith(f"samples/{each}-")}
            assert len(mine) in (0, 50)
    Branch(clone, "results", "origin").change(adding("z"))
    assert {"samples/a", "samples/z"} <= names(remote, "results")


def test_a_failed_write_leaves_the_branch_and_is_no_fault_of_the_command(clone: Path) -> None:
    Branch(clone, "results").change(adding("a"))
    before = git(clone, "rev-parse", "results")
    # Stands for a full disk: git cannot store the new file.
    (clone / ".git" / "info" / "attributes").write_text("* filter=broken\n")
    for key, value in (("clean", "false"), ("smudge", "cat"), ("required", "true")):
        git(clone, "config", f"filter.broken.{key}", value)
    with pytest.raises(NotMovedError, match="git add failed"):
        Branch(clone, "results").change(adding("b"))
    assert git(clone, "rev-parse", "results") == before
