"""Whatever is broken beside the results is named by every command that reads results."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

from observatory.errors import Exit
from observatory.store import records
from observatory.store.reading.beside import problems_beside
from tests import factories
from tests.command import observatory

BROKEN = {
    "triage.toml": b"[[acknowledged]]\nid = 5\n",
    "triage/ada.toml": b"= no toml",
    "alerts.json": b'{"schema":"observatory/alerts/1","x":1}',
    "calibrations/here.json": b"{",
    "contracts/a.json": b"[]",
    "crossings/a.json": b"\xff",
    "searches/a.json": b"null",
    "sentinels/a.json": b"5",
    "torture/a.json": b"{}",
    "upgrades/a.json": b'"\\ud800"',
}


@pytest.fixture
def results(tmp_path: Path) -> Path:
    factories.journal(tmp_path / "results", [factories.sample()])
    return tmp_path / "results"


def test_of_what_is_whole_nothing_is_said(results: Path) -> None:
    assert problems_beside(results) == ()
    assert problems_beside(results / "nothing") == ()


def test_every_kind_of_record_is_looked_at() -> None:
    names = (one.name for one in iter_modules(records.__path__, f"{records.__name__}."))
    modules = map(import_module, names)
    kinds = {one.FILES.directory for one in modules if hasattr(one, "FILES")}
    assert kinds == {name.partition("/")[0] for name in BROKEN if name.endswith(".json")} - {
        "alerts.json"
    }


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_named_once_with_its_reason(results: Path, name: str) -> None:
    path = results / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(BROKEN[name])
    (problem,) = problems_beside(results)
    assert problem.path == path
    assert str(problem).count(str(path)) == 1
    assert len(problem.reason) > 10


@pytest.mark.parametrize("command", ["show", "export", "alerts"])
def test_commands_name_a_broken_acknowledgement_once(results: Path, command: str) -> None:
    (results / "triage.toml").write_bytes(BROKEN["triage.toml"])
    strict = () if command == "alerts" else ("--strict",)
    done = observatory(command, *strict, "--results", results)
    assert done.stderr.count("triage.toml: ") == 1
    if strict:
        assert done.returncode == Exit.UNREADABLE
