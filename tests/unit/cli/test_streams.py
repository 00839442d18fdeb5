"""The streams of a command: closed, full, abandoned, or without the characters it needs."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from observatory.cli import main as command
from observatory.errors import Exit
from tests.command import observatory
from tests.factories_others import measured


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of another project with a name that is not ASCII."""
    where = tmp_path_factory.mktemp("results")
    for number in range(2):
        measured(where, number, {"m.time_größe": 1.0})
    return where


def ended(results: Path, redirections: str, **variables: str) -> tuple[int, str, str]:
    """The exit status of `show` in bash, and what it said."""
    line = f"{sys.executable} -m observatory show --results {results} {redirections}"
    done = subprocess.run(
        ["bash", "-c", line], capture_output=True, text=True, env={**os.environ, **variables},
        check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_command_runs_where_a_stream_is_closed(results: Path, closed: str) -> None:
    status, said, errors = ended(results, closed)
    assert (status, errors) == (Exit.OK, "")
    assert ("time" in said) == (">&-" not in closed.replace("2>&-", ""))


def test_a_full_disk_behind_the_output_is_a_sentence(results: Path) -> None:
    status, _, errors = ended(results, "> /dev/full")
    assert status == Exit.USAGE
    assert errors.startswith("observatory: standard output: No space left on device; make room")
    assert "Traceback" not in errors
    assert ended(results, "--metric nothing 2> /dev/full")[0] == Exit.USAGE


def test_a_reader_of_errors_that_leaves_changes_no_status(results: Path) -> None:
    line = "--metric nothing 2> >(exec true)"
    assert ended(results, line) == (Exit.USAGE, "", "")


def test_what_an_encoding_lacks_is_escaped(results: Path) -> None:
    status, said, errors = ended(results, "", PYTHONIOENCODING="ascii")
    assert (status, errors) == (Exit.OK, "")
    assert r"gr\xf6\xdfe" in said


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        (errno.EACCES, "change its permissions"), (errno.EROFS, "give another path"),
        (errno.ENOSPC, "make room there"), (errno.EISDIR, "give another path"),
    ],
)  # fmt: skip
def test_what_a_file_system_refuses_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, number: int, advice: str
) -> None:
    def refused() -> None:
        raise OSError(number, os.strerror(number), "/there/::warning::it")

    monkeypatch.setattr(command, "app", refused)
    done = observatory()
    assert done.returncode == Exit.USAGE
    assert done.stderr.startswith("observatory: /there/")
    assert os.strerror(number) in done.stderr
    assert advice in done.stderr


def test_an_error_without_a_path_is_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(command, "app", refused)
    with pytest.raises(PermissionError):
        command._main()


def test_a_path_that_cannot_be_written_is_named_as_it_was_given(
    results: Path, tmp_path: Path
) -> None:
    there = tmp_path / "there"
    there.mkdir()
    done = observatory("export", "--results", results, "--out", there)
    assert done.returncode == Exit.USAGE
    assert f"observatory: {there}: Is a directory; give another path" in done.stderr
    (there / "file").touch()
    done = observatory("export", "--results", results, "--out", there / "file" / "x.csv")
    assert done.returncode == Exit.USAGE
    assert str(there / "file") in done.stderr
