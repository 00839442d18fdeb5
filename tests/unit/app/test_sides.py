"""The two sides of a comparison: alike, or each of its own date, with a warning that says why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from observatory.app import sides
from observatory.app.progress import silent
from observatory.app.session import Session
from observatory.run.together import Resolved, Together
from observatory.run.uv import UvError
from observatory.store.records.subject import Subject
from tests.unit.run.test_together import EARLY, LATE
from tests.unit.run.test_together import subject as subject_of

BASE, HEAD = subject_of(1, date=EARLY), subject_of(2)
LATER = BASE.model_copy(update={"exclude_newer": LATE})


@dataclass
class Python:
    """An environment whose python says so much and ends."""

    python: Path

    def variables(self) -> dict[str, str]:
        return {}


@pytest.fixture
def session(tmp_path: Path) -> Session:
    def environment(subject: Subject, pins: Mapping[str, str]) -> Python:
        file = tmp_path / f"python-{subject.label}"
        text = "echo Traceback >&2; echo 'ImportError: no' >&2; exit 1" if pins else "exit 0"
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)
        return Python(file)

    subjects = SimpleNamespace(index=None)
    return cast(
        Session, SimpleNamespace(subjects=subjects, progress=silent, environment=environment)
    )


def resolving(monkeypatch: pytest.MonkeyPatch, answer: Any) -> None:
    def together(*_: object) -> Together:
        if isinstance(answer, UvError):
            raise answer
        return cast(Together, answer)

    monkeypatch.setattr(sides, "together", together)


def test_sides_that_can_be_imported_are_taken_as_they_were_resolved(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = Together(Resolved(LATER, {}), Resolved(HEAD, {}), {})
    resolving(monkeypatch, found)
    assert sides.alike(session, BASE, HEAD) == (found, "")


def test_a_side_that_cannot_be_imported_otherwise_keeps_its_own_date(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = Together(Resolved(LATER, {"numba": "0.6"}), Resolved(HEAD, {}), {})
    resolving(monkeypatch, found)
    both, warning = sides.alike(session, BASE, HEAD)
    assert (both.base, both.head) == (Resolved(BASE, {}), Resolved(HEAD, {}))
    assert warning == (
        "each side has the dependencies of its own date, because 1 cannot be imported with those "
        "of the later one: ImportError: no"
    )


def test_what_nothing_satisfies_is_a_warning_and_an_index_that_is_silent_an_error(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolving(monkeypatch, UvError("uv", "No solution found:\n  numba"))
    both, warning = sides.alike(session, BASE, HEAD)
    assert both.base == replace(both.base, subject=BASE)
    assert warning.endswith(
        "because no set of packages of one date satisfies both: No solution found: numba"
    )
    resolving(monkeypatch, UvError("uv", "the network is unreachable"))
    with pytest.raises(UvError):
        sides.alike(session, BASE, HEAD)
