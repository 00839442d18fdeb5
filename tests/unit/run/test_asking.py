"""What another Python answers is bounded, checked, and refused in one sentence."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from observatory.errors import ObservatoryError
from observatory.run import asking, interpreters, readers
from observatory.run.asking import NoAnswerError, answer
from observatory.run.environments import EnvironmentMakingError, versions_of
from observatory.run.readers import ReaderError

Program = Callable[[str], Path]
HOSTILE = ("", "null", "[1]", "{}", '["3.13.0", []]', '["3.13.0", {"a": 7}]', "[" * 5000,
           '{"machine": "x"}', '{"version": [1], "final": 3}', "1e999", "\x1b]0;x\x07")  # fmt: skip


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """Makes a program that prints a text."""

    def made(text: str) -> Path:
        path = tmp_path / "python"
        (tmp_path / "text").write_text(text)
        path.write_text(f"#!/bin/sh\ncat {tmp_path}/text\n")
        path.chmod(0o755)
        return path

    return made


@pytest.mark.parametrize("text", HOSTILE)
def test_an_answer_of_no_use_is_one_sentence(text: str, program: Program) -> None:
    python = program(text)
    asked: list[Callable[[], object]] = [
        lambda: readers.ask(str(python)), lambda: versions_of(python, "it"),
    ]  # fmt: skip
    for ask in asked:
        with pytest.raises((ReaderError, EnvironmentMakingError)) as found:
            ask()
        assert isinstance(found.value, ObservatoryError)
        assert len(str(found.value)) < 2_000
    assert interpreters._ask(python) is None


def test_a_package_without_a_version_is_left_out(program: Program) -> None:
    listed = ["3.13.0", {"pytensor": "3.3.8", "half.removed": None}]
    found = versions_of(program(json.dumps(listed)), "it")
    assert found.packages == {"pytensor": "3.3.8"}


def test_a_program_that_fails_or_does_not_end_is_said(tmp_path: Path) -> None:
    anything = TypeAdapter(int)
    assert answer(["/bin/sh", "-c", "echo noise; echo 7"], anything, 60) == 7
    with pytest.raises(NoAnswerError, match="exit status 3"):
        answer(["/bin/sh", "-c", "exit 3"], anything, 60)
    with pytest.raises(NoAnswerError, match="its own words"):
        answer(["/bin/sh", "-c", "echo its own words >&2; exit 3"], anything, 60)
    with pytest.raises(NoAnswerError, match="did not end within"):
        answer(["/bin/sh", "-c", "exec sleep 600"], anything, 0.2)
    with pytest.raises(NoAnswerError, match="No such file"):
        answer([str(tmp_path / "none")], anything, 60)


def test_nothing_of_the_current_directory_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit(9)")
    monkeypatch.chdir(tmp_path)
    found, said, _ = asking.printed([readers.sys.executable, "-c", "import json; print(1)"], 60)
    assert (found, said.strip()) == (0, "1")
