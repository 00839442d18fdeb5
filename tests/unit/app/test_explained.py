"""Which keys are taken apart and compared. The processes are left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from observatory.app import explained as module
from observatory.app.explained import Asked, Explained, KeysError, explain, taken_apart
from observatory.app.session import Session
from observatory.benchmarks.messages import KeyedFunction, KeysRecord
from observatory.errors import SelectionError
from observatory.run.environments import Environment
from observatory.store.records.machine import this_machine
from observatory.store.records.subject import Subject
from tests.factories import header

KEYS = {("1.0", 1): "a", ("1.0", 2): "a", ("2.0", 1): "b", ("2.0", 2): "c"}
"""By label and hash seed: 2.0 gives each process another key."""


class Subjects:
    def parse_all(self, texts: list[str], *_: object) -> list[Subject]:
        return [header().subject.model_copy(update={"label": text}) for text in texts]


@pytest.fixture
def explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    def taken_apart(label: str, _: Asked, seed: int) -> KeysRecord:
        functions = [KeyedFunction(name, KEYS[label, seed], ()) for name in ("exp", "expm1")]
        return KeysRecord({}, None, (*functions, KeyedFunction("log", "same", ())))

    class Alike:
        def __init__(self, subject: Subject) -> None:
            self.subject, self.pins = subject, dict[str, str]()

    class Both:
        def __init__(self, base: Subject, head: Subject) -> None:
            self.base, self.head = Alike(base), Alike(head)

    session = Session("explain", tmp_path, tmp_path, this_machine(None))
    session.__dict__["subjects"] = Subjects()
    monkeypatch.setattr(Session, "environment", lambda _, subject, pins: subject.label)
    monkeypatch.setattr(module, "taken_apart", taken_apart)
    monkeypatch.setattr(module, "alike", lambda _, *both: (Both(*both), ""))

    def of(name: str, *texts: str, **asked: str) -> Explained:
        return explain(session, Asked(name, **asked), *texts)

    return of


def test_both_subjects_and_two_processes_of_each_are_compared(explained: Any) -> None:
    found = explained("exp", "1.0", "2.0")
    assert [(one.base, one.head) for one in found.between] == [("a", "b")]
    assert [one.same for one in found.within["1.0"]] == [True]
    assert [one.same for one in found.within["2.0"]] == [False]


def test_without_another_subject_only_its_processes_are_compared(explained: Any) -> None:
    found = explained("exp", "2.0")
    assert not found.between
    assert list(found.within) == ["2.0"]
    assert found.head is None


def test_a_star_stands_for_any_text(explained: Any) -> None:
    assert [one.name for one in explained("exp*", "1.0").within["1.0"]] == ["exp", "expm1"]


def test_a_name_is_not_only_the_beginning_of_others(explained: Any) -> None:
    assert [one.name for one in explained("exp", "1.0").within["1.0"]] == ["exp"]


def test_a_function_that_nobody_asks_for_is_an_error_that_lists_those_that_are(
    explained: Any,
) -> None:
    with pytest.raises(SelectionError, match=r"no function 'ex' .*exp.*log"):
        explained("ex", "1.0")


def test_a_subject_is_not_compared_with_itself(explained: Any) -> None:
    with pytest.raises(SelectionError, match=r"1\.0 and 1\.0 are one subject"):
        explained("exp", "1.0", "1.0")


def test_a_backend_whose_keys_pytensor_does_not_make_is_refused(explained: Any) -> None:
    with pytest.raises(SelectionError, match=r"cache of JAX_CACHED has no keys .* NUMBA"):
        explained("exp", "1.0", backend="JAX_CACHED")


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("exec sleep 600", "did not end within"),
        ("cat nested", "could not be taken apart"),
        ("echo its last words >&2; exit 3", "its last output was: its last words"),
    ],
)
def test_a_process_that_gives_no_keys_is_one_sentence(
    script: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it prints may be as deep as a parser takes it."""
    part = '{"name":"a","value":"","parts":[' * 300 + "]}" * 300
    function = f'{{"name":"f","key":"k","parts":[{part}]}}'
    record = f'{{"environment":{{}},"problem":null,"functions":[{function}]}}'
    (tmp_path / "nested").write_text(record)
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\ncd {tmp_path}\n{script}\n")
    python.chmod(0o755)
    place = Environment(python, header().versions, "key", tmp_path)
    monkeypatch.setattr(module, "_TIMEOUT", 0.3 if "sleep" in script else 60)
    with pytest.raises(KeysError, match=said):
        taken_apart(place, Asked("f"), 1)
