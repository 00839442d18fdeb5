from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from observatory.app.stored_base import Pair
from observatory.errors import Exit, ObservatoryError
from observatory.run.environments import EnvironmentMakingError
from observatory.store.base.problems import RecordError
from scripts import compare_pull_request
from scripts.compare_pull_request import main

_FAKE = """
import pathlib, sys
status, *arguments = sys.argv[1:]
pathlib.Path("arguments").write_text("\\n".join(arguments))
if status != "4":
    pathlib.Path(arguments[arguments.index("--json") + 1]).write_text("{}")
    pathlib.Path(arguments[arguments.index("--markdown") + 1]).write_text("the comment\\n")
sys.exit(int(status))
"""


def compared(tmp_path: Path, status: int, *more: str) -> int:
    (tmp_path / "fake.py").write_text(_FAKE)
    program = (sys.executable, str(tmp_path / "fake.py"), str(status))
    given = ["--repo", "clone", "--pull", "12", "--out", str(tmp_path / "artifact"), *more]
    return main(given, program)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("status", [0, 5, 7, 8])
def test_whatever_a_comparison_says_it_is_an_artifact_of_two_files(
    tmp_path: Path, status: int
) -> None:
    assert compared(tmp_path, status, "--summary", "summary.md") == 0
    names = {path.name: path.read_text() for path in (tmp_path / "artifact").iterdir()}
    assert names == {"comparison.json": "{}", "pull-request.txt": "12\n"}
    assert (tmp_path / "summary.md").read_text() == "the comment\n"


def test_the_merge_is_compared_with_its_first_parent(tmp_path: Path) -> None:
    compared(tmp_path, 0, "--python", "3.12", "--", "--backend", "NUMBA")
    said = (tmp_path / "arguments").read_text().split("\n")
    assert said[:5] == ["compare", "HEAD^1", "HEAD", "--repo", "clone"]
    assert said[-4:] == ["--python", "3.12", "--backend", "NUMBA"]
    kept = said[said.index("--samples") + 1]
    workflow = Path(__file__).parents[3] / ".github" / "workflows" / "compare.yml"
    *_, uploaded = yaml.safe_load(workflow.read_text())["jobs"]["compare"]["steps"]
    assert Path(kept).name in uploaded["with"]["path"].split()


def test_the_passes_of_a_workflow_are_those_of_the_comparison(tmp_path: Path) -> None:
    compared(tmp_path, 0, "--passes", "counting work", "--python", "3.12")
    said = (tmp_path / "arguments").read_text().split("\n")
    assert said[-4:] == ["--pass", "counting", "--pass", "work"]


def test_without_a_comparison_there_is_no_number_and_the_status_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compared(tmp_path, 4) == 4
    assert list((tmp_path / "artifact").iterdir()) == []
    assert "ended with status 4" in capsys.readouterr().err


def acted(monkeypatch: pytest.MonkeyPatch, error: ObservatoryError) -> None:
    """Act a stored base, and that counting the head beside it ends in an error."""
    base = SimpleNamespace(header=SimpleNamespace(subject=SimpleNamespace(label="the base")))

    def ends(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(compare_pull_request, "Git", Path)
    pair = Pair(base, "0" * 40, ("1" * 40, "0" * 40))  # type: ignore[arg-type]
    monkeypatch.setattr(compare_pull_request, "stored_pair", lambda *_: pair)
    monkeypatch.setattr(compare_pull_request, "compare_with_stored", ends)


def test_where_the_merge_with_the_stored_base_cannot_be_built_both_sides_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The target may have been repaired since the stored base."""
    acted(monkeypatch, EnvironmentMakingError("no environment for the head: uv says no"))
    assert compared(tmp_path, 0, "--stored", str(tmp_path)) == 0
    said = capsys.readouterr().out
    assert "Both sides are measured, because no environment for the head: uv says no." in said
    assert (tmp_path / "arguments").exists()


def test_stored_results_that_cannot_be_used_do_not_prevent_the_comparison(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    acted(monkeypatch, RecordError("stored/samples is broken"))
    assert compared(tmp_path, 0, "--stored", str(tmp_path)) == 0
    assert "Both sides are measured, because stored/samples is broken." in capsys.readouterr().out
    assert (tmp_path / "arguments").exists()


@pytest.mark.parametrize(
    "asked", [("--base", "v1.0"), ("--passes", "counting timing"), ("--", "--scenario", "call")]
)
def test_stored_results_do_not_stand_for_what_they_do_not_have(
    asked: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    acted(monkeypatch, RecordError("they are not asked"))
    assert compared(tmp_path, 0, "--stored", str(tmp_path), *asked) == 0
    assert "they are not asked" not in capsys.readouterr().out
    assert (tmp_path / "arguments").exists()


def test_a_clone_that_is_none_is_left_to_the_comparison_to_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compared(tmp_path, 4, "--stored", str(tmp_path)) == 4  # there is no directory `clone`
    assert "Both sides are measured, because" in capsys.readouterr().out


@pytest.mark.parametrize("number", ["0", "-1", "1e3", "12\n13", "٣", "9" * 10])
def test_what_is_no_number_is_refused(tmp_path: Path, number: str) -> None:
    with pytest.raises(SystemExit):
        main(["--repo", ".", "--pull", number])


def test_a_budget_that_is_no_time_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--repo", ".", "--pull", "12", "--budget", "soon", "--stored", "."])
    assert ended.value.code == Exit.USAGE
    assert "argument --budget" in capsys.readouterr().err
