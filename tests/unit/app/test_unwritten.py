"""What a killed process recorded gets its result file, by the next one that measures."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from observatory.app import unwritten
from observatory.app.unwritten import noted, write_left
from observatory.store.base.problems import Problem, RecordError
from observatory.store.records import layout
from tests.factories import header, journal, sample


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The journals whose result files were written."""
    found: list[Path] = []
    monkeypatch.setattr(unwritten, "write", lambda _, path: found.append(path) or [])
    return found


def killed_while_it_takes(state: Path, results: Path, path: Path) -> None:
    child = os.fork()
    if child == 0:
        with noted(state, results, path):
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)


def test_what_a_killed_process_recorded_gets_its_result_file(tmp_path: Path) -> None:
    state, results = tmp_path / "state", tmp_path / "results"
    made = journal(results, [sample()])
    killed_while_it_takes(state, results, made.path)
    own = header()
    target = layout.asv_path(results, own.machine.machine, own.subject)
    assert not target.exists()
    assert write_left(state) == []
    assert target.exists()
    assert list((state / "unwritten").iterdir()) == []


def test_once_is_enough_and_what_is_being_taken_is_left_alone(
    tmp_path: Path, written: list[Path]
) -> None:
    path = tmp_path / "a.jsonl"
    path.touch()
    killed_while_it_takes(tmp_path, tmp_path, path)
    with noted(tmp_path, tmp_path, tmp_path / "b.jsonl"):
        write_left(tmp_path)
        write_left(tmp_path)
    write_left(tmp_path)
    assert written == [path]


def test_a_note_that_cannot_be_followed_is_dropped(tmp_path: Path, written: list[Path]) -> None:
    write_left(tmp_path)
    for number, text in enumerate(("", "[]", '{"results": 5, "journal": 6}')):
        place = tmp_path / "unwritten" / str(number)
        place.mkdir(parents=True)
        (place / "journal").write_text(text)
    write_left(tmp_path)
    assert written == []
    assert list((tmp_path / "unwritten").iterdir()) == []


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), RecordError("broken")])
def test_what_cannot_be_written_is_said_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    path = tmp_path / "a.jsonl"
    path.touch()
    killed_while_it_takes(tmp_path, tmp_path, path)

    def refuse(*_: Path) -> list[Problem]:
        raise error

    monkeypatch.setattr(unwritten, "write", refuse)
    (said,) = write_left(tmp_path)
    assert said.startswith(f"{path}: the result file that an earlier command left unwritten ")
    assert str(error) in said
    problem = Problem(path, "an unknown metric")
    monkeypatch.setattr(unwritten, "write", lambda *_: [problem])
    assert write_left(tmp_path) == [f"skipped: {problem}"]
    assert list((tmp_path / "unwritten").iterdir()) == []


def test_without_a_first_sample_there_is_nothing_to_write_and_to_say(tmp_path: Path) -> None:
    results = tmp_path / "results"
    assert unwritten.write(results, results / "samples" / "bench" / "a.jsonl") == []
    assert not results.exists()


def test_a_journal_that_somebody_has_removed_is_forgotten(
    tmp_path: Path, written: list[Path]
) -> None:
    killed_while_it_takes(tmp_path, tmp_path, tmp_path / "gone.jsonl")
    assert write_left(tmp_path) == written == []
    assert list((tmp_path / "unwritten").iterdir()) == []
