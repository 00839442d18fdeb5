"""Whatever is broken beside the results is named by every command that reads results."""

from __future__ import annotations

import subprocess
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

from observatory.errors import Exit
from observatory.store import records
from observatory.store.reading.beside import problems_beside
from observatory.store.records import layout
from observatory.store.records.kinds import KINDS
from tests import factories
from tests.command import observatory

BROKEN = {
    "triage.toml": b"[[acknowledged]]\nid = 5\n",
    "triage/ada.toml": b"= no toml",
    "alerts.json": b'{"schema":"observatory/alerts/1","x":1}',
    "calibrations/here.json": b"{",
    "contracts/a.json": b"[]",
    "crossings/a.json": b"\xff",
    "explored/a.json": b'{"schema":"observatory/explored/1","found":[{"pair":{"first":5}}]}',
    "searches/a.json": b"null",
    "sentinels/a.json": b"5",
    "settings/a.json": b'{"rows": []}',
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
    assert kinds == {one.directory for one in KINDS} == set(layout.RECORDS)
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


READ = {"samples/bench/aaaaaaaa-x.jsonl": b"{\n{\n", "ci/c0ffee00-x.json": b"{"}
"""Broken files of results themselves, which `read_results` names."""
STRICT = ("--strict", "--results", "results")
COMMANDS = {
    "show": STRICT, "export": STRICT, "growth": STRICT, "path": STRICT, "alerts": STRICT,
    "digest": STRICT, "dashboard": ("--out", "html", *STRICT), "profile": ("3.3.7", *STRICT),
    "evaluate-detector": ("results", "--strict"), "publish": ("results", "--repo", ".", "--strict"),
    "compare": ("results", "results"),
    "doctor": ("--results", "results"),
    "sentinel": ("--show", "--results", "results"),
    "bisect": ("--open", "--results", "results"),
    "cross": ("00", "--results", "results"),
    "torture": ("no such", "--results", "results"),
    "plot history": ("--out", "plot.png", "--metric", "crashed", "--results", "results"),
    "plot series": ("--out", "plot.png", "--results", "results"),
    "plot ledger": ("3.3.7", "--out", "plot.png", "--results", "results"),
    "deliver": ("--dry-run", "--results", "results"),
    "ack": ("00", "--why", "known", "--results", "results"),
    "passport": ("--results", "results"),
}  # fmt: skip
"""Commands that read results, or use single records of them. Some find nothing to show here, or
nothing to do, and name the files all the same."""
ONE = ("profile", "compare")
"""Those that read the journals of their subjects, and no others."""
ENDED = ("bisect", "cross", "deliver", "ack")
"""Those that have nothing to do without alerts, and end with a broken file of them."""


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_names_a_broken_file_of_each_kind_once(
    results: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(results.parent)
    subprocess.run(["git", "init", "--quiet", "."], check=True)
    # Broken alerts end `alerts` and `digest`, which must not forget what they told: alone. Of
    # acknowledgements, the first broken file is named. Of many files, only the first are.
    known = BROKEN if command in ONE else BROKEN | READ
    each = [name for name in known if name not in ("triage/ada.toml", "alerts.json")]
    for names in filter(None, (each[:4], each[4:8], each[8:], ["alerts.json"])):
        for name in names:
            (results / name).parent.mkdir(exist_ok=True, parents=True)
            (results / name).write_bytes((BROKEN | READ)[name])
        done = observatory(*command.split(), *COMMANDS[command])
        told = {name: done.stderr.count(f"/{name}") for name in names}
        assert all(told.values()), told
        assert all(told[name] == 1 for name in names if name in BROKEN), told
        ended = command in ENDED and names == ["alerts.json"]
        strict = "--strict" in COMMANDS[command]
        assert (done.returncode == Exit.UNREADABLE) == (strict or ended)
        for name in names:
            (results / name).unlink()
