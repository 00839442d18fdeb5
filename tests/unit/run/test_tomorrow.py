"""The checks of a numba that is announced; nothing is measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from observatory.run.presets import PRESETS, Narrowed, tasks_of
from observatory.run.tomorrow import Tomorrow, steps_of, tomorrow_of
from observatory.run.uv import UvError
from observatory.store.records.sample import Sample
from observatory.store.records.subject import Subject
from tests.factories import header, journal, sample, subject

FOUND = Tomorrow("3.3.7", "3.3.7", "3.3.7 llvmlite==0.51.0rc1 numba==0.69.0rc1",
                 "3.3.7 llvmlite==0.51.0rc1 numba==0.69.0rc1")  # fmt: skip


class Index:
    """An index with one final release of numba, and perhaps a pre-release."""

    def __init__(self, announced: Mapping[str, str]) -> None:
        self.announced = announced

    def resolve(
        self, asked: Sequence[str], prereleases: bool = False, **_: Any
    ) -> Mapping[str, str]:
        if not prereleases:
            return {"numba": "0.68.1", "llvmlite": "0.50.0"}
        assert tuple(asked) == ("numba>0.68.1",)
        if not self.announced:
            raise UvError("uv pip compile", "No solution found")
        return self.announced


def complete() -> list[Sample]:
    """A sample for each task of the preset that is compared."""
    return [
        sample(one.cell, one.measure, metrics={}) for one in tasks_of(PRESETS["quick"], Narrowed())
    ]


def found_with(announced: Mapping[str, str], text: str, *extras: str) -> Tomorrow | None:
    def parse(text: str, extras: Sequence[str] = (), python: str | None = None) -> Subject:
        del python
        words = [*text.replace("newest", "3.3.7").split(), *extras]
        return subject(" ".join(words), requirements=(f"pytensor=={words[0]}",))

    subjects: Any = SimpleNamespace(index=Index(announced), parse=parse)
    return tomorrow_of(subjects, text, extras, None)


def test_the_pre_release_comes_with_its_llvmlite_to_the_release_that_is_newest_now() -> None:
    coming = {"numba": "0.69.0rc1", "llvmlite": "0.51.0rc1", "numpy": "2.5.5"}
    assert found_with(coming, "newest") == FOUND
    assert FOUND.announced == "llvmlite==0.51.0rc1 numba==0.69.0rc1"
    other = found_with(coming, "3.3.6", "pymc")
    assert other is not None
    assert other.now == "3.3.6 pymc"
    assert other.text == "3.3.6 pymc llvmlite==0.51.0rc1 numba==0.69.0rc1"


def test_without_a_newer_pre_release_there_is_nothing_to_try() -> None:
    assert found_with({}, "newest") is None


def test_the_checks_are_commands_of_one_subject_and_end_with_the_judgement(tmp_path: Path) -> None:
    journal(tmp_path, complete())
    steps = list(steps_of(FOUND, tmp_path, "9m", ["--python", "3.13"], "bench"))
    where = ["--results", str(tmp_path), "--python", "3.13"]
    on = ["--machine", "bench"]
    assert {one.name: one.command for one in steps} == {
        "contracts": ["contracts", FOUND.text, *where],
        "canary": ["canary", FOUND.text, *where, *on],
        "measure": ["run", "--subject", FOUND.text, "--preset", "quick", *where, *on],
        "census": ["run", "--subject", FOUND.text, "--preset", "census", "--budget", "9m",
                   *where, *on],
        "compare": ["compare", f"{tmp_path}:3.3.7", f"{tmp_path}:{FOUND.label}"],
    }  # fmt: skip
    assert [one.skipped for one in steps] == [None] * 5


def test_what_was_measured_in_part_today_is_measured_again(tmp_path: Path) -> None:
    """As by a night that was killed and never resumed."""
    journal(tmp_path, complete()[:-1])
    assert "measure today" in {one.name for one in steps_of(FOUND, tmp_path, "9m", [], None)}


def test_what_was_not_measured_today_is_measured_before_it_is_compared(tmp_path: Path) -> None:
    *_, today, census, compare = steps_of(FOUND, tmp_path, "9m", ["--python", "3.13"], "bench")
    where = ["--results", str(tmp_path), "--python", "3.13", "--machine", "bench"]
    assert today.command == ["run", "--subject", "3.3.7", "--preset", "quick", *where]
    assert (census.name, compare.name, compare.skipped) == ("census", "compare", None)


def test_results_that_do_not_say_what_today_is_are_not_compared(tmp_path: Path) -> None:
    for python in ("3.12", "3.13"):
        journal(tmp_path, complete(), under=header(python=python))
    *_, compare = steps_of(FOUND, tmp_path, "9m", [], None)
    assert compare.skipped is not None
    assert "holds '3.3.7' more than once" in compare.skipped


@pytest.mark.parametrize("name", ["measure", "measure today", "census"])
def test_a_run_that_was_killed_goes_on(name: str, tmp_path: Path) -> None:
    (step,) = (one for one in steps_of(FOUND, tmp_path, "9m", [], None) if one.name == name)
    assert step.resumable
