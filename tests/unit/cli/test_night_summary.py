"""The summary of a night: what cannot be written is said, and ends nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from observatory.cli.night_summary import summarise
from observatory.cli.output import Console
from observatory.run.night_steps import Wishes
from observatory.store.asv.files import project
from observatory.store.journal.night import Night, NightStep
from tests.factories import NOON, WARM, journal, sample


@pytest.fixture
def wishes(tmp_path: Path) -> Wishes:
    """Those of a night that has measured a time."""
    results = tmp_path / "results"
    project(results, journal(results, [sample(metrics={"compile_time": 2.0})]).read())
    return Wishes(subjects=["newest"], results=results)


def summarised(summary: Path, wishes: Wishes) -> None:
    night = Night(
        schema="observatory/night/1", id="20261121T020000Z", asked=[],
        results=str(wishes.results), started_at=NOON,
        steps=[NightStep(name="measure", command=["run"])],
    )  # fmt: skip
    summarise(summary, night, wishes, ["A note."], Console(soft_wrap=True))


def test_a_summary_has_a_picture_beside_it(tmp_path: Path, wishes: Wishes) -> None:
    summary = tmp_path / "summary.md"
    summarised(summary, wishes)
    assert "](summary.svg)" in summary.read_text()
    assert (tmp_path / "summary.svg").read_text().startswith("<svg")


def test_the_bars_are_of_one_model_and_python(tmp_path: Path, wishes: Wishes) -> None:
    cells = [replace(WARM, model=model) for model in ("radon_pymc", "threaded", "radon")]
    taken = [sample(cell, metrics={"compile_time": 1.0 + n}) for n, cell in enumerate(cells)]
    project(wishes.results, journal(wishes.results, taken).read())
    summarised(tmp_path / "summary.md", wishes)
    drawn = (tmp_path / "summary.svg").read_text()
    assert drawn.count("warm_disk NUMBA") == 1
    assert "2.50 s" in drawn  # of radon alone: 2 and 3 s


def test_a_picture_that_cannot_be_written_is_said_and_the_rest_is_written(
    tmp_path: Path, wishes: Wishes, capsys: pytest.CaptureFixture[str]
) -> None:
    summary = tmp_path / "summary.md"
    summary.with_suffix(".svg").mkdir()
    summarised(summary, wishes)
    said = capsys.readouterr().out
    assert "The summary has no picture: [Errno 21] Is a directory: " in said
    assert "A note." in summary.read_text()
    assert "![" not in summary.read_text()


def test_a_summary_that_cannot_be_written_is_said(
    tmp_path: Path, wishes: Wishes, capsys: pytest.CaptureFixture[str]
) -> None:
    summary = tmp_path / "summary.md"
    summary.mkdir()
    summarised(summary, wishes)
    assert "summary.md cannot be written: Is a directory" in capsys.readouterr().out
