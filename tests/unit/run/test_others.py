"""Which environments fill the caches that a subject reads as those of others."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from observatory.run import others
from observatory.run.environments import EnvironmentMakingError
from observatory.run.history import History
from observatory.run.interpreters import Interpreter, Interpreters
from observatory.run.others import others_of
from observatory.run.releases import load
from observatory.run.subjects import Subjects
from observatory.run.uv import UvError
from observatory.store.records.subject import Subject
from tests.factories import subject

OWN = subject("3.0.7", requirements=("pytensor==3.0.7", "numba==0.65.1", "pymc==6"), python="3.13")


class Machine:
    """Makes every environment but those whose label or Python is in `broken`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, numba: str | None = "0.65.0") -> None:
        self.broken: set[str] = set()
        self.numba = numba
        installed = [
            Interpreter(Path("python"), f"{minor}.1") for minor in ("3.14", "3.13", "3.12")
        ]
        free = Interpreter(Path("python"), "3.11.1", free_threaded=True)
        index: Any = SimpleNamespace(resolve=self.resolve)
        self.subjects = Subjects(History(load(), Path()), index, Interpreters((*installed, free)))
        monkeypatch.setattr(others, "environment_of", self.make)

    def resolve(self, wanted: list[str], **_: object) -> dict[str, str]:
        assert list(wanted) == ["pytensor==3.0.7", "numba<0.65.1"]
        if self.numba is None:
            raise UvError("uv pip compile", "your requirements are unsatisfiable.")
        return {"numba": self.numba}

    def make(self, one: Subject, *_: object) -> Subject:
        if self.broken & {one.label, one.python}:
            raise EnvironmentMakingError("no wheel")
        return one

    def others_of(self, one: Subject = OWN, *wanted: str) -> dict[str, Any]:
        return dict(others_of(one, self.subjects, Path(), wanted or others.OTHERS))


def test_each_has_one_thing_that_the_subject_has_not(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Machine(monkeypatch).others_of()
    told = {name: (one.python, sorted(one.requirements)) for name, one in found.items()}
    assert told == {
        "python": ("3.12", ["numba==0.65.1", "pymc==6", "pytensor==3.0.7"]),
        "numba": ("3.13", ["numba==0.65.0", "pymc==6", "pytensor==3.0.7"]),
        "pytensor": ("3.13", ["numba==0.65.1", "pymc==6", "pytensor==3.0.6"]),
    }


def test_only_what_is_asked_for_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(Machine(monkeypatch).others_of(OWN, "numba")) == ["numba"]


def test_the_next_one_is_taken_where_an_environment_cannot_be_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine = Machine(monkeypatch)
    machine.broken = {"3.12", "3.0.7 pytensor==3.0.6"}
    found = machine.others_of()
    assert found["python"].python == "3.14"
    assert "pytensor==3.0.5" in found["pytensor"].requirements


def test_what_there_is_no_other_version_of_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch, numba=None)
    machine.broken = {"3.12", "3.14"}
    assert list(machine.others_of()) == ["pytensor"]


def test_a_commit_follows_the_newest_release_before_its_date(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    release = load().find("3.3.7")
    assert release is not None
    commit = subject(
        "1a2b3c4d5e", requirements=("pytensor @ git+file:///src@1a2b",), date=release.uploaded
    )
    found = Machine(monkeypatch).others_of(commit, "pytensor")
    assert found["pytensor"].requirements == ("pytensor==3.3.6",)
