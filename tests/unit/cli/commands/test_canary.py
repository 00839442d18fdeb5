"""`observatory canary` as a user calls it; nothing is measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from observatory.app.session import Session
from observatory.cli.commands import canary as module
from observatory.errors import Exit
from observatory.store.records.settings import Row
from observatory.store.records.subject import Subject
from tests.command import observatory


@pytest.fixture
def crossed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """The machines and subjects whose settings were crossed."""
    asked: list[tuple[str, str]] = []

    def crossed(session: Session, subject: Subject) -> list[Row]:
        asked.append((session.machine.machine, subject.label))
        return [Row(name="the usual settings", counts={}, failures=[], further={})]

    monkeypatch.setattr(module, "crossed", crossed)
    return asked


def test_settings_are_crossed_of_each_subject(
    crossed: list[tuple[str, str]], tmp_path: Path
) -> None:
    options = ("--settings", "--results", tmp_path, "--machine", "bench")
    done = observatory("canary", "3.3.7", *options)
    assert done.returncode == Exit.OK, done.stderr
    assert "3.3.7 with the usual settings: right" in done.stdout
    assert crossed == [("bench", "3.3.7")]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--full"], "--full"),
        (["--model", "closures", "--launch", "fork"], "--model, --launch"),
        (["--scenario", "siblings", "--cluster", "local:2"], "--scenario, --cluster"),
    ],
)
def test_options_that_settings_would_ignore_are_refused(
    crossed: list[tuple[str, str]], tmp_path: Path, options: list[str], named: str
) -> None:
    done = observatory("canary", "3.3.7", "--settings", "--results", tmp_path, *options)
    assert done.returncode == Exit.USAGE
    assert done.stderr.strip().endswith(f"; drop {named}")
    assert crossed == []
