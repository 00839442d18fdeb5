"""The streams of a command: closed, full, abandoned, or without the characters it needs."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from observatory.cli import main as command
from observatory.cli import patience
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


def test_a_terminal_without_a_width_gets_the_usual_one(results: Path) -> None:
    assert ended(results, "", COLUMNS="0") == ended(results, "", COLUMNS="80")


def test_processes_of_a_command_without_streams_have_some(tmp_path: Path) -> None:
    child = "import os; print(*[os.readlink(f'/proc/self/fd/{n}') for n in range(3)])"
    script = (
        "import subprocess, sys\n"
        "from observatory.cli.patience import outlive_readers\n"
        "outlive_readers()\n"
        f"with open({str(tmp_path / 'out')!r}, 'w') as out:\n"
        f"    subprocess.run([sys.executable, '-c', {child!r}], stdout=out, check=True)\n"
    )
    (tmp_path / "script.py").write_text(script)
    line = f"{sys.executable} {tmp_path / 'script.py'} <&- >&- 2>&-"
    subprocess.run(
        ["bash", "-c", line], check=True, env={**os.environ, "PYTHONPATH": str(Path.cwd())}
    )
    assert (tmp_path / "out").read_text().split() == [
        "/dev/null",
        str(tmp_path / "out"),
        "/dev/null",
    ]


def test_a_reader_that_is_slow_gets_everything() -> None:
    """The pipe is full when the command writes, and does not wait by itself."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    full = os.write(writing, b"x" * 10_000_000)
    lasting = patience._Lasting(writing)
    with ThreadPoolExecutor() as pool, os.fdopen(reading, "rb") as reader:
        written = pool.submit(lasting.write, b"end")
        begun = reader.read(full)
        assert written.result(60) == 3
        os.close(writing)
        assert begun + reader.read() == b"x" * full + b"end"


def test_a_full_disk_behind_the_output_is_a_sentence(results: Path) -> None:
    status, _, errors = ended(results, "> /dev/full")
    assert status == Exit.USAGE
    assert errors.startswith("observatory: standard output: No space left on device; make room")
    assert "Traceback" not in errors
    assert ended(results, "--metric nothing 2> /dev/full")[0] == Exit.USAGE
    # What waits to be written when the command is done: nothing else would say that it is lost.
    line = f"{sys.executable} -m observatory --version > /dev/full"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    assert done.returncode == Exit.USAGE
    assert done.stderr.startswith("observatory: standard output: No space left on device")


def test_a_reader_of_errors_that_leaves_changes_no_status(results: Path) -> None:
    line = "--metric nothing 2> >(exec true)"
    assert ended(results, line) == (Exit.USAGE, "", "")


@pytest.mark.parametrize("handler", ["strict", "surrogateescape"])
def test_what_an_encoding_lacks_is_escaped(results: Path, handler: str) -> None:
    status, said, errors = ended(results, "", PYTHONIOENCODING=f"ascii:{handler}")
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


def test_a_link_that_leads_to_itself_is_a_sentence_with_every_python(
    results: Path, tmp_path: Path
) -> None:
    """Before Python 3.13, pathlib raises no OSError for it."""
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    done = observatory("dashboard", "--results", loop, "--out", tmp_path / "page")
    assert done.returncode == Exit.USAGE
    assert done.stderr.startswith(f"observatory: {loop}: ")


def test_another_error_that_follows_from_one_of_a_file_is_a_bug(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken() -> None:
        try:
            raise FileNotFoundError(errno.ENOENT, "No such file", "/there/it")
        except FileNotFoundError:
            raise RuntimeError("this cannot be")  # noqa: B904 - without `from`, as by mistake

    monkeypatch.setattr(command, "app", broken)
    with pytest.raises(RuntimeError, match="this cannot be"):
        command._main()


def test_a_full_disk_is_named_by_the_file_that_found_no_room(results: Path) -> None:
    done = observatory("export", "--results", results, "--out", "/dev/full")
    assert done.returncode == Exit.USAGE
    assert "observatory: /dev/full: No space left on device; make room there" in done.stderr


@pytest.mark.parametrize(
    "missed",
    [lambda: subprocess.run(["no-such-program"], check=False),
     lambda: Path("/proc/999999999/stat").read_text(),
     lambda: (Path(command.__file__).parent / "missing").read_text()],
)  # fmt: skip
def test_a_path_that_no_user_gave_is_a_bug(
    monkeypatch: pytest.MonkeyPatch, missed: Callable[[], object]
) -> None:
    monkeypatch.setattr(command, "app", missed)
    with pytest.raises(FileNotFoundError):
        command._main()


@pytest.mark.parametrize("out", ["/proc/x.csv", "/proc/none/x.csv"])
def test_a_file_that_nobody_can_make_is_a_sentence(results: Path, out: str) -> None:
    done = observatory("export", "--results", results, "--out", out)
    assert done.returncode == Exit.USAGE
    assert done.stderr.startswith("observatory: /proc/")
    assert "give another path" in done.stderr


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
