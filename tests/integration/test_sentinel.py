"""The fixed work in a real environment, and the record of a look."""

from __future__ import annotations

from pathlib import Path

import pytest

from observatory.app import sentinel
from observatory.app.session import Session
from observatory.benchmarks.catalogue import Cell
from observatory.run.environments import Environment
from observatory.store.records import sentinels
from tests.factories import header, subject

pytestmark = pytest.mark.integration


def test_every_piece_of_fixed_work_is_timed_and_recorded(
    newest: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Session, "environment", lambda *_: newest)
    # C fills its cache in a quarter of the time that numba takes.
    monkeypatch.setattr(sentinel, "_CELL", Cell("radon", "warm_process", "C", "spawn"))
    session = Session("sentinel", tmp_path / "results", tmp_path / "state", header().machine)
    made = sentinel.look(session, subject("3.3.8"))
    assert list(sentinels.load_all(session.results)) == [made]
    assert set(made.times) == {"interpreter", "arrays", "compiler", "machine_code", "build"}
    assert [len(made.times[name]) for name in ("interpreter", "compiler", "build")] == [15, 5, 3]
    assert {"kernel", "memory"} <= set(made.system)
    assert sentinel.pinned([session.results], header().machine.machine) == "3.3.8"
    assert sentinel.pinned([session.results], "another") is None
    assert not (session.state / "caches" / "sentinel").exists()
