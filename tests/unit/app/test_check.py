"""`observatory check` without real processes: what they are given, what is left, and the status."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from observatory.app import check as module
from observatory.app.check import Checked, check
from observatory.app.progress import Update
from observatory.benchmarks.catalogue import Cell
from observatory.benchmarks.flags import parsed
from observatory.benchmarks.messages import FILLER_FILE
from observatory.benchmarks.plan import Task
from observatory.errors import Exit
from observatory.guard.caches.opening import unnoticed
from observatory.guard.verdicts import Fate, Finding
from observatory.run.environments import Environment
from observatory.run.sources import SubjectError
from observatory.store.records.passport import NAME, Passport
from observatory.store.records.sample import Sample
from observatory.store.records.subject import Versions
from observatory.store.records.upgrades import Part
from tests import factories

CELL = Cell("closures", "siblings", "NUMBA", "fork")
HERE = Passport(
    pytensor="3.3.8",
    numba="0.68.0",
    python="3.13.0",
    settings={"floatX": "float32", "NUMBA_OPT": "1"},
)


@pytest.mark.parametrize(
    ("part", "fate", "status"),
    [
        ({}, None, Exit.OK),
        ({}, "right", Exit.OK),
        ({"wrong": ["a"], "fresh_wrong": ["a"]}, "right", Exit.OK),
        ({"stale": ["a"]}, "right", Exit.WRONG_RESULTS),
        ({"wrong": ["a"], "failure": "it died"}, "right", Exit.WRONG_RESULTS),
        ({"failure": "it died"}, "right", Exit.SAMPLE_FAILED),
        ({"failure": "it died"}, "wrong", Exit.WRONG_RESULTS),
        ({}, "shared symbols", Exit.SYMBOLS),
    ],
)
def test_wrong_numbers_come_first(part: dict[str, Any], fate: Fate | None, status: Exit) -> None:
    built = Part(**{"model": "randoms", "backend": "NUMBA", "built": 3, **part})
    found = Checked((built,), (Finding(CELL, fate),) if fate else ())
    assert found.status == status


def test_a_check_of_nothing_is_no_success() -> None:
    assert Checked((), ()).status == Exit.UNDECIDED


def test_an_unknown_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SubjectError, match="no model 'radonn'"):
        check(HERE, tmp_path / "python", None, tmp_path, 60.0, ["radonn"])


@dataclass
class Taking:
    """An executor that takes nothing, and remembers what it would have started from."""

    environment: Environment
    caches: Path
    timeout: float
    flags: str | None = None
    variables: dict[str, str] = field(default_factory=dict)
    tasks: list[Task] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    links: int = 0

    def run(self, task: Task) -> Sample:
        self.tasks.append(task)
        own = self.caches / str(task.cache)
        self.links += sum(path.is_symlink() for path in own.rglob("*"))
        self.seen |= {str(path.relative_to(own)) for path in own.rglob("*") if path.is_file()}
        return factories.sample(task.cell, measure="counting")


@pytest.fixture
def taking(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Taking]:
    made: list[Taking] = []

    def executor(*args: Any, **named: Any) -> Taking:
        made.append(Taking(*args, **named))
        return made[-1]

    versions = Versions(pytensor="3.3.8", numba="0.68.0", python="3.13.0", packages={})
    monkeypatch.setattr(module, "Executor", executor)
    monkeypatch.setattr(module, "versions_of", lambda *_: versions)
    monkeypatch.setenv("OBSERVATORY_LOCK", str(tmp_path))
    return made


def test_every_process_starts_from_a_copy_which_is_removed(
    taking: list[Taking], tmp_path: Path
) -> None:
    cache, state = tmp_path / "cache", tmp_path / "state"
    (cache / "numba").mkdir(parents=True)
    for name in ("numba/one.nbi", "numba/one.nbi.tmp.5", NAME):
        (cache / name).write_text("")
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / "two.nbi").write_text("")
    (cache / "link").symlink_to(linked)
    (cache / "dangling").symlink_to(tmp_path / "none")
    python = tmp_path / "bin" / "python"
    os.utime(cache / "numba" / "one.nbi", (1.0, 1.0))
    os.mkfifo(cache / "pipe")
    found = check(HERE, python, cache, state, 60.0)
    assert (cache / "numba" / "one.nbi").stat().st_atime == 1.0
    (used,) = taking
    assert used.seen == {"pytensor/numba/one.nbi", "pytensor/link/two.nbi", FILLER_FILE}
    assert used.links == 0  # nothing that is written through one would reach the user's cache
    assert {task.cache for task in used.tasks} == {"own"}
    assert {task.cell.backend for task in used.tasks} == {"NUMBA"}  # there is no compiler
    assert (used.environment.python, used.flags) == (python, "floatX=float32")
    assert used.variables == {"NUMBA_OPT": "1"}
    assert {each.model for each in found.parts} == {"radon", "randoms", "linalg"}
    assert len(found.findings) > 10
    assert list((state / "caches").iterdir()) == []
    assert len(list(cache.rglob("*"))) == 7


def test_what_cannot_be_copied_is_said_and_ends_nothing(
    taking: list[Taking], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    (cache / "numba").mkdir(parents=True)
    for name in ("one.nbi", "secret.nbi"):
        (cache / "numba" / name).write_text("")
    (cache / "numba" / "loop").symlink_to(cache)

    def opening(path: str) -> Any:
        if path.endswith("secret.nbi"):
            raise PermissionError(13, "Permission denied", path)
        return unnoticed(path)

    monkeypatch.setattr(module, "unnoticed", opening)
    said: list[Update] = []
    check(HERE, tmp_path / "python", cache, tmp_path, 60.0, ["radon"], said.append)
    assert taking[0].seen == {"pytensor/numba/one.nbi", FILLER_FILE}
    told = [update.text for update in said if update.kind == "warning"]
    assert told == [f"1 file of {cache} cannot be read, e.g. {cache}/numba/secret.nbi"]


def test_one_model_is_built_without_siblings_from_an_empty_cache(
    taking: list[Taking], tmp_path: Path
) -> None:
    here = HERE.model_copy(update={"compiler": "12.2.0"})
    said: list[Update] = []
    found = check(here, tmp_path / "python", None, tmp_path, 60.0, ["radon"], said.append)
    assert [(each.model, each.backend) for each in found.parts] == [
        ("radon", "NUMBA"), ("radon", "C"),
    ]  # fmt: skip
    assert found.findings == ()
    assert taking[0].seen == {FILLER_FILE}
    # A log says how far it is, too.
    lines = [update.text for update in said if update.kind == "sample"]
    assert [line.rpartition(" [")[2].split("]")[0] for line in lines] == ["1/2", "2/2"]


def test_the_cpu_for_which_the_cache_was_filled_is_that_of_the_check(
    taking: list[Taking], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """numba loads code for no other: nothing of the cache would be used."""
    target = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    for name, text in target.items():
        monkeypatch.setenv(name, text)
    check(HERE, tmp_path / "python", None, tmp_path, 60.0, ["radon"])
    assert taking[0].variables == {"NUMBA_OPT": "1"} | target


def test_flags_with_commas_reach_the_measured_process_whole(
    taking: list[Taking], tmp_path: Path
) -> None:
    linked = "-lopenblas -Wl,-rpath,/opt/lib"
    here = HERE.model_copy(update={"settings": {"blas__ldflags": linked, "floatX": "float32"}})
    check(here, tmp_path / "python", None, tmp_path, 60.0, ["radon"])
    assert dict(parsed(taking[0].flags or "")) == here.settings


def test_the_copy_has_a_hash_seed_for_forks(taking: list[Taking], tmp_path: Path) -> None:
    def run(task: Task) -> Sample:
        filler = json.loads((taking[0].caches / "own" / FILLER_FILE).read_text())
        assert 0 < filler["hash_seed"] < 2**32
        return factories.sample(task.cell, measure="counting")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Taking, "run", lambda _, task: run(task))
        check(HERE, tmp_path / "python", None, tmp_path, 60.0, ["linalg"])
