"""The commands as a user meets them: help, errors, exit statuses, exports."""

from __future__ import annotations

import io
import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from observatory.benchmarks.catalogue import Cell
from observatory.benchmarks.models import ModelError
from observatory.cli.main import Commands
from observatory.cli.output import Console, show
from observatory.errors import Exit
from observatory.store.asv.files import project
from observatory.store.journal.writer import Journal
from observatory.text.tables import Table
from tests.command import observatory
from tests.factories import RUN, header, sample

WARM = Cell("radon", "warm_disk", "NUMBA", "fork")


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Two releases, one of which misses."""
    where = tmp_path / "results"
    for label, misses in (("2.35.1", 105), ("3.3.7", 0)):
        journal = Journal.of(where, header(label))
        counted = sample(WARM, measure="counting", metrics={"cache_misses": misses})
        journal.append(RUN, counted)
        project(where, journal.read())
    return where


def test_the_help_lists_every_command_in_its_group_and_every_exit_status() -> None:
    said = observatory("--help").stdout
    places = [said.index(f"\n{title}:\n") for title in Commands.groups]
    assert places == sorted(places)
    for own, commands in zip(places, Commands.groups.values(), strict=True):
        for command, sentence in commands.items():
            assert re.search(rf"\n  {command} +{re.escape(sentence)}\n", said[own:])
            assert len(f"  {'evaluate-detector'}  {sentence}") <= 80
    for code in Exit:
        assert re.search(rf"\n +{code.value}  {re.escape(code.meaning)}\n", said)


def test_an_unknown_metric_is_answered_with_those_that_the_results_have(results: Path) -> None:
    for command in (("show",), ("export",)):
        done = observatory(*command, "--metric", "cache_miss", "--results", str(results))
        assert done.returncode == Exit.USAGE
        assert "(did you mean 'cache_misses'?); choose from wrong_results" in done.stderr


def test_a_table_without_rows_is_not_printed_but_what_went_wrong_is() -> None:
    stream = io.StringIO()
    console = Console(file=stream, width=120)
    show(console, Table("on bench", ("scenario",), (), ("each time is one sample", "WRONG: 7")))
    assert stream.getvalue() == "on bench: WRONG: 7\n"


def test_the_version_is_said() -> None:
    assert observatory("--version").stdout.startswith("observatory 0.")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("show", "--results", "nowhere"), "there is no results directory nowhere"),
        (("run", "--preset", "huge", "--subject", "3.3.7"), "there is no preset 'huge'"),
        (("run", "--subject", "9.9.x"), "'9.9.x' is not a release of PyTensor"),
        (("run", "--repo", "."), "--repo and --commits go together"),
        (
            ("run", "--radon-data", "a.csv", "--results", "r", "--cluster", "tcp://x:1"),
            "without --cluster",
        ),
        (("run", "--machine", "a/b"), "the machine name 'a/b' cannot be part of a file name"),
        (("run", "--machine", ""), "the machine name '' cannot be part of a file name"),
        (
            ("run", "--repo", ".", "--commits", "no..where"),
            "there is no branch, tag or commit 'no'",
        ),
        (("compare", "main", "branch"), "branch or commit needs --repo CLONE; accepted"),
        (("shwo",), "there is no command 'shwo' (did you mean 'show'?)"),
        (("run", "--backend", "numb"), "there is no backend 'numb' (did you mean 'NUMBA'?)"),
        (("run", "--preset", "hsitory"), "(did you mean 'history'?)"),
        (("census", "--graph", "differ.siz.normal"), "(did you mean 'differ.size.normal'?)"),
        (("frobnicate",), "there is no command 'frobnicate'; choose from observe, run"),
    ],
)
def test_a_mistake_of_the_user_is_answered_in_a_sentence(
    arguments: tuple[str, ...], said: str
) -> None:
    done = observatory(*arguments)
    assert done.returncode == Exit.USAGE
    assert said in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "command",
    [("profile", "3.3.7"), ("ack", "8", "--why", "x"), ("bisect", "8"), ("cross", "8"), ("show",)],
)
def test_a_results_directory_that_is_not_there_is_said_alike(command: tuple[str, ...]) -> None:
    done = observatory(*command, "--results", "nowhere")
    assert done.returncode == Exit.USAGE
    assert "there is no results directory nowhere; name one with --results" in done.stderr


@pytest.fixture
def _offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that goes too far finds no package: it must not begin to measure."""
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv"))


@pytest.mark.parametrize(
    "command",
    [
        ("run",), ("canary",), ("observe",), ("calibrate",), ("sentinel",), ("contracts",),
        ("explore",), ("tomorrow",), ("nightly",), ("torture", "3.3.7"), ("upgrade", "3.3.7"),
        ("bisect", "3.3.6", "3.3.7"), ("cross", "3.3.6", "3.3.7"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("_offline")
def test_a_place_that_can_hold_no_results_is_said_before_anything_is_measured(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    file = tmp_path / "README.md"
    file.touch()
    for place, verb in ((file, "written"), (file / "below", "made"), (Path("/proc/foo"), "made")):
        done = observatory(*command, "--results", place, "--state", tmp_path / "state")
        assert done.returncode == Exit.USAGE
        assert f"observatory: --results {place} cannot be {verb}: " in done.stderr
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.usefixtures("_offline")
def test_a_state_that_cannot_be_made_is_said_before_anything_is_measured(tmp_path: Path) -> None:
    done = observatory("run", "--results", tmp_path / "results", "--state", "/proc/foo")
    assert done.returncode == Exit.USAGE
    assert "observatory: --state /proc/foo cannot be made: " in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_model_that_is_of_no_use_is_said_in_a_sentence_and_another_failed_import_is_a_bug(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from observatory.cli import main as command

    def failed(error: ImportError) -> Callable[[], None]:
        def importing() -> None:
            raise error

        return importing

    monkeypatch.setattr(command, "app", failed(ModelError("sorting.py defines no MODEL")))
    with pytest.raises(SystemExit) as left:
        command._main()
    assert left.value.code == Exit.USAGE
    assert capsys.readouterr().err == "observatory: sorting.py defines no MODEL\n"
    monkeypatch.setattr(command, "app", failed(ModuleNotFoundError("No module named 'nowhere'")))
    with pytest.raises(ModuleNotFoundError):
        command._main()


def test_the_newest_subject_is_shown_by_default(results: Path) -> None:
    done = observatory("show", "--results", str(results))
    assert done.returncode == Exit.OK
    assert "3.3.7" in done.stdout
    assert "2.35.1" not in done.stdout


def test_two_subjects_are_shown_side_by_side(results: Path) -> None:
    options = ("--metric", "cache_misses", "--results", str(results))
    done = observatory("show", "2.35.1", "3.3.7", *options)
    (row,) = (line for line in done.stdout.splitlines() if "cache_misses" in line)
    assert row.split()[-2:] == ["105", "0"]


def test_a_subject_without_results_is_answered_with_those_that_have_some(results: Path) -> None:
    done = observatory("show", "3.0.0", "--results", str(results))
    assert done.returncode == Exit.USAGE
    assert "3.0.0" in done.stderr


def test_an_export_is_a_frame_in_each_format(results: Path, tmp_path: Path) -> None:
    options = ("--results", str(results), "--metric", "cache_misses")
    rows = pd.read_csv(io.StringIO(observatory("export", *options).stdout))
    assert dict(zip(rows["subject"], rows["value"], strict=True)) == {"2.35.1": 105, "3.3.7": 0}
    plain = json.loads(observatory("export", "--format", "json", *options).stdout)
    assert [row["value"] for row in plain] == [105, 0]
    out = tmp_path / "frame.parquet"
    observatory("export", "--format", "parquet", "--out", str(out), *options)
    assert pd.read_parquet(out)["value"].tolist() == [105, 0]


def test_a_broken_file_is_named_and_skipped_and_fails_only_if_asked(results: Path) -> None:
    broken = results / "bench" / "0123abcd-broken.json"
    broken.write_text("{")
    lenient = observatory("show", "--results", str(results))
    assert lenient.returncode == Exit.OK
    assert "0123abcd-broken.json" in lenient.stderr.replace("\n", "")
    strict = observatory("show", "--strict", "--results", str(results))
    assert strict.returncode == Exit.UNREADABLE


def test_a_reader_that_leaves_early_is_no_error(results: Path) -> None:
    # `true` reads nothing: the pipe is broken before the first byte. A later status stays.
    for words, status in (("export", Exit.OK), ("show", Exit.OK), ("--help", Exit.OK),
                          ("show nothing", Exit.USAGE)):  # fmt: skip
        more = "" if words == "--help" else f"--results {results}"
        command = f"{sys.executable} -m observatory {words} {more} | true; exit ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
        assert done.returncode == status, words
        assert "Traceback" not in done.stderr
        assert "BrokenPipe" not in done.stderr


def test_the_dashboard_says_where_the_page_is(results: Path, tmp_path: Path) -> None:
    done = observatory("dashboard", "--results", str(results), "--out", str(tmp_path / "html"))
    assert done.returncode == Exit.OK
    assert f"The page: {tmp_path / 'html' / 'index.html'}" in done.stdout
    assert (tmp_path / "html" / "index.html").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["dashboard"], ""),
        (["compare", "a", "b"], "; every finished sample is recorded"),
        (
            ["observe"],
            "; every finished sample is recorded; to go on: observatory observe --resume",
        ),
    ],
)
def test_an_interrupted_command_says_how_to_go_on_and_has_a_status_of_its_own(
    words: list[str], said: str,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    from observatory.cli import main as command

    def interrupted(_: object) -> None:
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(type(command.app), "__call__", interrupted)
    monkeypatch.setattr("sys.argv", ["observatory", *words])
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    try:
        with pytest.raises(SystemExit) as left:
            command.main()
    finally:
        for number, handler in zip((signal.SIGINT, signal.SIGTERM), before, strict=True):
            signal.signal(number, handler)
    assert left.value.code == Exit.INTERRUPTED
    assert capsys.readouterr().err == f"observatory: interrupted{said}\n"


def test_the_old_name_of_the_option_for_passes_works() -> None:
    new, old = (observatory("run", option, "foo") for option in ("--pass", "--measure"))
    assert new.returncode == Exit.USAGE
    assert "foo" in new.stderr
    assert (old.returncode, old.stderr) == (new.returncode, new.stderr)
