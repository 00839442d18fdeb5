"""`observatory tomorrow` as a user calls it; its steps are replaced."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from observatory.cli.commands import tomorrow as module
from observatory.errors import Exit
from observatory.run.tomorrow import Tomorrow
from tests.command import observatory

FOUND = Tomorrow("3.3.7", "3.3.7", "3.3.7 numba==0.69.0rc1", "3.3.7 numba==0.69.0rc1")


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The commands of the steps; contracts are broken."""
    names: list[str] = []

    def command_of(words: Sequence[str], lock: int) -> int:
        del lock
        names.append(words[0])
        return Exit.CONTRACTS if words[0] == "contracts" else Exit.OK

    monkeypatch.setattr(module, "command_of", command_of)
    monkeypatch.setattr(module, "tomorrow_of", lambda *_: FOUND)
    return names


def test_all_checks_are_made_and_the_worst_is_the_status(ran: list[str], tmp_path: Path) -> None:
    done = observatory("tomorrow", "--results", tmp_path, "--state", tmp_path / "state")
    assert done.returncode == Exit.CONTRACTS
    assert ran == ["contracts", "canary", "run", "run", "run", "compare"]
    assert "3.3.7 with numba==0.69.0rc1" in done.stdout
    assert Exit.CONTRACTS.meaning in " ".join(done.stdout.split())


def test_without_a_pre_release_it_says_so(
    ran: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "tomorrow_of", lambda *_: None)
    done = observatory("tomorrow", "--results", tmp_path, "--state", tmp_path / "state")
    assert done.returncode == Exit.OK
    assert "no pre-release of numba that is newer than its last release" in done.stdout
    assert ran == []


@pytest.mark.parametrize(
    "other", [["--machine", "bench"], ["--census-budget", "5m"], ["--python", "3.13"]]
)
def test_what_was_interrupted_is_continued_only_with_the_same_options(
    ran: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: list[str]
) -> None:
    command_of = module.command_of

    def interrupted(words: Sequence[str], lock: int) -> int:
        return Exit.INTERRUPTED if words[0] == "canary" else command_of(words, lock)

    options = ["--results", str(tmp_path), "--state", str(tmp_path / "state")]
    monkeypatch.setattr(module, "command_of", interrupted)
    assert observatory("tomorrow", *options).returncode == Exit.INTERRUPTED
    monkeypatch.setattr(module, "command_of", command_of)
    ran.clear()
    observatory("tomorrow", *options, *other)
    assert ran[:2] == ["contracts", "canary"]
    ran.clear()
    observatory("tomorrow", *options)  # within a second or not, neither replaces the other's record
    assert ran[:2] == ["canary", "run"]
