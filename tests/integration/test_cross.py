"""`observatory cross` on real builds: a fault that a wheel brings, beside another package."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from observatory.app.crossing import Asked, cross
from observatory.app.session import Session
from observatory.benchmarks.catalogue import Cell
from observatory.run.environments import NO_PINS, Environment
from observatory.run.uv import RealUv
from observatory.store.journal.models import SEARCH
from observatory.store.records.machine import this_machine
from observatory.store.records.subject import Subject
from scripts.faults.kit import build
from tests.integration.conftest import borrowing
from tests.integration.fault_rig import faulty

pytestmark = pytest.mark.integration

FAULT = "observatory-fault-c-key-salted"
_TWICE = """
from numba import njit

@njit(cache=True)
def doubled(x):
    return 2 * x

doubled(1)
print(sum(doubled.stats.cache_hits.values()))
"""


def borrowed(newest: Environment, one: Subject, where: Path) -> Environment:
    """The environment of a subject that has the newest release's packages but for its extras."""
    found, _ = borrowing(newest, where)
    added = {}
    for text in one.requirements:
        wanted = Requirement(text)
        name = canonicalize_name(wanted.name)
        if name in ("pytensor", "numba"):
            continue
        RealUv()("pip", "install", "--quiet", "--no-deps", "--python", str(found.python), text)
        added[name] = "1.0" if wanted.url else str(wanted.specifier).removeprefix("==")
    packages = newest.versions.packages | added
    versions = newest.versions.model_copy(update={"packages": packages})
    return replace(found, versions=versions, key=where.name)


def test_a_fault_that_a_wheel_brings_is_found_beside_another_package(
    newest: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: dict[str, Environment] = {}

    def environment(
        _: Session, one: Subject, added: Sequence[str] = (), pins: object = NO_PINS
    ) -> Environment:
        del added, pins
        if one.label not in made:
            made[one.label] = borrowed(newest, one, tmp_path / f"env-{len(made)}")
        return made[one.label]

    monkeypatch.setattr(Session, "environment", environment)
    session = Session(SEARCH, tmp_path / "results", tmp_path / "state", this_machine(None))
    version, wheel = newest.versions.pytensor, build("c_key_salted", tmp_path)
    old, new = session.subjects.parse_all([version, f"{version} filelock==3.32.2 {wheel}"])
    cell = Cell("radon", "warm_disk", "C", "spawn")
    found = cross(session, Asked(old, new, cell, "cache_misses"))
    assert [one.name for one in found.axes] == ["filelock", FAULT]
    assert [one.axes for one in found.causes] == [[FAULT]]
    assert (found.low, found.high) == (0, 1)
    measured = {tuple(one.new): one.value for one in found.combinations}
    assert measured == {("filelock",): 0, (FAULT,): 1}
    assert found.axes[1].needed


def test_a_fault_of_numba_shows_without_pytensor(newest: Environment, tmp_path: Path) -> None:
    script = tmp_path / "twice.py"
    script.write_text(_TWICE)

    def hits(environment: Environment, name: str) -> list[int]:
        """What two processes with one cache find in it."""
        cache = {"NUMBA_CACHE_DIR": str(tmp_path / name)}
        return [
            int(subprocess.check_output(
                [str(environment.python), str(script)], text=True,
                env=environment.variables() | cache,
            ))
            for _ in range(2)
        ]  # fmt: skip

    assert hits(newest, "as-it-is") == [0, 1]
    fault = faulty(newest, "numba_index_of_process", tmp_path / "fault")
    assert hits(fault, "faulty") == [0, 0]
