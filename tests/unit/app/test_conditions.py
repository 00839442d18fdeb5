"""What surrounds a process, one setting at a time; nothing is measured."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from observatory.app import conditions as of_conditions
from observatory.app import session as of_session
from observatory.app.conditions import (
    BESIDE,
    ELSEWHERE,
    Condition,
    conditions,
    under_each,
    value_under,
)
from observatory.app.probing import OutOfTimeError, Prober
from observatory.app.session import Session
from observatory.benchmarks.catalogue import METRICS, Cell
from observatory.benchmarks.plan import Task
from observatory.run.local import LOCK
from observatory.store.journal.models import SEARCH
from observatory.store.records.crossings import UnderCondition
from observatory.store.records.sample import Sample
from tests.factories import header, sample, subject

SIBLINGS = Cell("closures", "siblings", "NUMBA", "spawn")
SPAWN = Cell("radon", "warm_disk", "NUMBA", "spawn")
OLD, NEW = subject("3.3.6"), subject("3.3.7")


@pytest.fixture
def prober(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Prober:
    monkeypatch.setenv(LOCK, str(tmp_path))  # whoever measures here meanwhile is not waited for
    session = Session(SEARCH, tmp_path / "results", tmp_path / "state", header().machine)
    return Prober(session, SPAWN, METRICS["cache_misses"])


def test_each_is_one_setting_other_than_usual() -> None:
    with conditions(SPAWN) as every:
        names = [one.name for one in every]
        assert len(set(names)) == len(names)
        settings = {name for one in every for name in one.variables}
        assert {
            "PYTHONHASHSEED",
            "NUMBA_CPU_NAME",
            "NUMBA_NUM_THREADS",
            "LC_ALL",
            "HOME",
        } <= settings
        assert {one.flags for one in every} == {
            None,
            "floatX=float32",
            "cxx=",
            "numba__fastmath=False",
        }
        assert [one.launches for one in every if one.launches] == [("fork",)]
        home = Path(next(one for one in every if "HOME" in one.variables).variables["HOME"])
        assert home.is_dir()
    assert not home.exists()


def test_a_cell_without_that_start_method_is_measured_with_the_usual_one() -> None:
    fork = Condition("fork", launches=("fork",))
    assert fork.cell(SIBLINGS).launch == "fork"
    upgrade = Cell("randoms", "upgrade", "NUMBA", "spawn")
    assert fork.cell(upgrade) == upgrade
    both = fork.beside(Condition("forkserver", launches=("forkserver",)))
    assert (both.cell(SIBLINGS).launch, both.cell(SPAWN).launch) == ("forkserver", "fork")


def test_a_start_method_that_one_cell_of_several_has_is_a_condition() -> None:
    with conditions(SIBLINGS, SPAWN) as every:
        assert [one.launches for one in every if one.launches] == [("fork",), ("forkserver",)]


def test_the_name_says_whether_home_is_on_another_file_system(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without /dev/shm, or with temporary files in it, there is no other one."""
    names = []
    for memory in (tmp_path / "nothing", Path(tempfile.gettempdir()), other_file_system()):
        monkeypatch.setattr(of_conditions, "_MEMORY", memory)
        monkeypatch.setattr(of_conditions, "_ROOM", 1)
        with conditions(SPAWN) as every:
            home = Path(every[-1].variables["HOME"])
            assert every[-1].place == home
            tmp = Path(every[-1].variables["TMPDIR"])
            assert tmp.stat().st_dev == Path(tempfile.gettempdir()).stat().st_dev
            differs = home.stat().st_dev != Path(tempfile.gettempdir()).stat().st_dev
            assert differs == (every[-1].name == ELSEWHERE)
            names.append(every[-1].name)
    assert names[:2] == [BESIDE] * 2


def other_file_system() -> Path:
    """One that can be written to, if there is one here."""
    places = (Path("/dev/shm"), Path("/run"), Path("/var/tmp"), Path.home())
    usual = Path(tempfile.gettempdir()).stat().st_dev
    there = (one for one in places if one.is_dir() and os.access(one, os.W_OK))
    return next((one for one in there if one.stat().st_dev != usual), places[0])


def test_the_old_subject_is_measured_only_where_the_new_one_has_another_value(
    prober: Prober, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = {
        (NEW, "PYTHONHASHSEED=0"): 0.0, (OLD, "PYTHONHASHSEED=0"): 0.0,
        (NEW, "floatX=float32"): 6.0, (OLD, "floatX=float32"): 2.0, (NEW, "cxx="): None,
    }  # fmt: skip
    asked = []

    def value(_: Prober, of: Any, condition: Condition) -> float | None:
        asked.append((of, condition.name))
        return values.get((of, condition.name), 4.0)

    monkeypatch.setattr(of_conditions, "value_under", value)
    found = {one.name: one for one in under_each(prober, OLD, NEW, 4.0)}
    assert found["PYTHONHASHSEED=0"] == UnderCondition(name="PYTHONHASHSEED=0", low=0, high=0)
    assert found["floatX=float32"] == UnderCondition(name="floatX=float32", low=2, high=6)
    assert found["cxx="] == UnderCondition(name="cxx=", low=None, high=None)
    assert found["LC_ALL=C"] == UnderCondition(name="LC_ALL=C", low=None, high=4)
    assert [name for of, name in asked if of is OLD] == ["PYTHONHASHSEED=0", "floatX=float32"]


def test_a_sample_has_the_setting_and_gets_into_no_journal(
    prober: Prober, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen: list[dict[str, Any]] = []

    class Executor:
        def __init__(self, *_: object, **settings: Any) -> None:
            self.settings, self.caches = settings, Path()

        def run(self, task: Task) -> Sample:
            seen.append({"launch": task.cell.launch, **self.settings})
            misses = 40 if task.keep else 3
            return sample(task.cell, "counting", metrics={"cache_misses": misses})

        def cancel(self) -> None:
            pass

    place = SimpleNamespace(key="key")
    monkeypatch.setattr(Session, "environment", lambda *_: place)
    monkeypatch.setattr(of_session, "Executor", Executor)
    one = Condition("fork", {"LC_ALL": "C"}, "cxx=", ("fork",), tmp_path)
    assert value_under(prober, NEW, one) == 3
    assert {each["launch"] for each in seen} == {"fork"}
    assert seen[0]["variables"] == {"LC_ALL": "C"}
    assert seen[0]["flags"] == "cxx="
    assert {each["place"] for each in seen} == {tmp_path}
    assert prober.samples == len(seen) == 2
    assert not (prober.session.results / "samples").exists()
    assert not list((prober.session.state / "caches").iterdir())


def test_nothing_is_measured_when_the_time_is_over(tmp_path: Path) -> None:
    session = Session(SEARCH, tmp_path, tmp_path, header().machine, deadline=0.0)
    with pytest.raises(OutOfTimeError):
        value_under(Prober(session, SPAWN, METRICS["cache_misses"]), NEW, Condition("x"))
