"""`observatory contracts` with stand-ins for the index, the environments and the suite."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from observatory.app import contracts as checking
from observatory.cli.commands import contracts as options
from observatory.cli.main import main
from observatory.errors import Exit
from observatory.run.contracts import Numba, SuiteError
from observatory.run.environments import EnvironmentMakingError
from observatory.store.records.contracts import Contracts, load_all
from observatory.store.records.subject import Subject
from tests.factories import subject
from tests.factories_contracts import contract, contracts

ALLOWED = ("0.66.0", "0.67.0", "0.68.0")
NEWEST = Numba("0.68.1", ("numba==0.68.1",))


class _Numbas:
    """Knows three numbas that fit, a newer one, and no pre-release."""

    prerelease: Numba | None = None

    def __init__(self, index: object, subject: Subject) -> None:
        self.subject = subject

    def own(self) -> str | None:
        pins = [one for one in self.subject.requirements if one.startswith("numba==")]
        return pins[0].removeprefix("numba==") if pins else None

    def allowed(self) -> list[Numba]:
        return [Numba(version) for version in ALLOWED]

    def newest(self) -> Numba:
        return NEWEST

    def newest_prerelease(self) -> Numba | None:
        return self.prerelease

    def asked(self, version: str) -> Numba:
        return Numba(version) if version in ALLOWED else Numba(version, (f"numba=={version}",))


class _Subjects:
    index = None

    def parse(self, text: str, extras: Any = (), python: str | None = None) -> Subject:
        head, *more = [*text.split(), *extras]
        pins = {one for one in more if one.startswith("numba==")}
        others = [one for one in more if one not in pins]
        numba = [one for one in more if one in pins][-1:]
        return subject(
            " ".join([head, *others, *numba]),
            requirements=(f"pytensor=={head}", *(numba or ["numba==0.68.0"])),
            extras=(*others, *numba),
        )


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Subject, tuple[str, ...]]]:
    """Every environment that was asked for: its subject, and what was lifted."""
    return []


@pytest.fixture
def run(
    asked: list[tuple[Subject, tuple[str, ...]]], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> Run:  # fmt: skip
    """Runs the command; ``fates``: by numba a record's contracts or an error."""

    def environment_of(one: Subject, _subjects: Any, _state: Any, overrides: Any = ()) -> str:
        asked.append((one, tuple(overrides)))
        pins = [text for text in one.requirements if text.startswith("numba==")]
        return pins[0].removeprefix("numba==")

    def command(*arguments: str, fates: dict[str, Any] | None = None) -> tuple[int, str, str]:
        def check(place: str, one: Subject, lifted: bool = False) -> Contracts:
            fate = (fates or {}).get(place, [contract("uid_fork"), contract("stamp")])
            if isinstance(fate, Exception):
                raise fate
            return contracts(place, fate, lifted=lifted, extras=one.extras)

        monkeypatch.setattr(options, "local_subjects", lambda state: _Subjects())
        monkeypatch.setattr(checking, "Numbas", _Numbas)
        monkeypatch.setattr(checking, "environment_of", environment_of)
        monkeypatch.setattr(checking, "check", check)
        results = ["--results", str(tmp_path)]
        monkeypatch.setattr(sys, "argv", ["observatory", "contracts", *arguments, *results])
        with pytest.raises(SystemExit) as left:
            main()
        said = capsys.readouterr()
        return int(left.value.code or 0), said.out, said.err

    return command


def test_a_subject_is_looked_at_with_its_own_numba(run: Run, asked: Any, tmp_path: Path) -> None:
    code, out, _ = run("3.3.7")
    assert code == Exit.OK
    assert [(one.label, overrides) for one, overrides in asked] == [("3.3.7", ())]
    assert "numba 0.68.0" in out
    assert "uid_fork" in out
    assert len(list(load_all(tmp_path))) == 1


def test_every_numba_is_looked_at_once(run: Run, asked: Any) -> None:
    code, _, _ = run("3.3.7", "--all-allowed", "--newest", "--numba", "0.67.0")
    assert code == Exit.OK
    assert [one.label for one, _ in asked] == [
        "3.3.7 numba==0.66.0", "3.3.7 numba==0.67.0", "3.3.7", "3.3.7 numba==0.68.1"
    ]  # fmt: skip
    assert [overrides for _, overrides in asked] == [(), (), (), ("numba==0.68.1",)]


@pytest.mark.parametrize("arguments", [("3.3.7 numba==0.68.1",), ("3.3.7", "numba==0.68.1")])
def test_a_numba_beyond_the_bounds_may_be_part_of_the_subject(
    run: Run, asked: Any, arguments: tuple[str, ...]
) -> None:
    code, _, err = run(*arguments)
    assert code == Exit.OK
    assert asked[0][1] == ("numba==0.68.1",)
    assert "beyond PyTensor's bounds" in err


def test_what_is_broken_is_said_with_its_reason(run: Run) -> None:
    broken = [contract("uid_fork", "broken", detail="the same number twice"), contract("stamp")]
    code, out, _ = run("3.3.7", fates={"0.68.0": broken})
    assert code == Exit.CONTRACTS
    assert "BROKEN uid_fork with numba 0.68.0: the same number twice" in out
    assert "needed: uid_fork is needed" in out


def test_broken_outranks_what_could_not_be_judged(run: Run) -> None:
    fates = {
        "0.66.0": EnvironmentMakingError("no wheel"),
        "0.67.0": [contract("uid_fork", "failed")],
        "0.68.0": [contract("uid_fork", "broken")],
    }
    code, _, err = run("3.3.7", "--all-allowed", fates=fates)
    assert code == Exit.CONTRACTS
    assert "no wheel" in err


@pytest.mark.parametrize(
    "fates",
    [
        {"0.67.0": EnvironmentMakingError("no wheel")},
        {"0.67.0": SuiteError("the suite did not end")},
        {"0.67.0": [contract("uid_fork", "failed", detail="it died of SIGSEGV")]},
    ],
)
def test_what_could_not_be_judged_is_no_success(run: Run, fates: dict[str, Any]) -> None:
    assert run("3.3.7", "--all-allowed", fates=fates)[0] == Exit.UNDECIDED


def test_what_a_release_does_not_have_is_no_failure(run: Run) -> None:
    fates = {"0.68.0": [contract("uid_replaced", "unavailable", detail="2.38.3 was the first")]}
    assert run("3.3.7", fates=fates)[0] == Exit.OK


def test_no_environment_at_all_is_a_status_of_its_own(run: Run) -> None:
    fates = {"0.68.0": EnvironmentMakingError("no wheel")}
    assert run("3.3.7", fates=fates)[0] == Exit.ENVIRONMENT


def test_a_missing_pre_release_is_said(run: Run, asked: Any) -> None:
    code, _, err = run("3.3.7", "--pre")
    assert code == Exit.OK
    assert asked == []
    assert "the index has no pre-release" in err


def test_a_pre_release_is_looked_at(run: Run, asked: Any, monkeypatch: Any) -> None:
    found = Numba("0.69.0rc1", ("llvmlite==0.51.0rc1", "numba==0.69.0rc1"))
    monkeypatch.setattr(_Numbas, "prerelease", found)
    assert run("3.3.7", "--pre")[0] == Exit.OK
    assert asked[0][1] == found.overrides


def test_json_is_all_that_is_on_stdout(run: Run) -> None:
    code, out, _ = run("3.3.7", "--all-allowed", "--json")
    assert code == Exit.OK
    assert [one["environment"]["numba"] for one in json.loads(out)] == list(ALLOWED)


def test_with_many_numbas_the_table_says_what_does_not_hold(run: Run) -> None:
    numbas = [option for version in ("0.61.2", "0.65.1") for option in ("--numba", version)]
    fates = {"0.65.1": [contract("uid_fork", "broken"), contract("stamp")]}
    _, out, _ = run("3.3.7", "--all-allowed", *numbas, fates=fates)
    rows = [line.split() for line in out.splitlines() if line.split()[:1] and line.strip()]
    assert ["0.65.1", "1", "1", "0", "0", "uid_fork"] in rows
    assert ["0.66.0", "2", "0", "0", "0"] in rows
