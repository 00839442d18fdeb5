from __future__ import annotations

import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from observatory.run import fitness
from observatory.run.fitness import Facts, judge, look

GIB = 2**30
GOOD = Facts(
    instructions="callgrind, code for haswell",
    cpus=2, load=0.02, siblings=1, crowding=1.02, governors=("performance", "performance"),
    turbo=None, quota=None, memory_limit=None, memory=8 * GIB, swap_used=0, scratch=Path("/tmp"),
    scratch_free=50 * GIB, scratch_kind="ext4", threads=(), compiler="/usr/bin/g++", spread=0.01,
    stolen=0.0,
)  # fmt: skip


def states(**changes: Any) -> dict[str, str]:
    return {one.subject: one.state for one in judge(replace(GOOD, **changes))}


def test_a_quiet_machine_is_fine_and_has_nothing_to_do() -> None:
    assert set(states().values()) == {"fine"}
    assert not any(one.advice for one in judge(GOOD))


@pytest.mark.parametrize(
    ("what", "state", "changes"),
    [
        ("load", "attention", {"load": 1.0}),
        ("steadiness", "attention", {"spread": 0.2}),
        ("hypervisor", "attention", {"stolen": 0.1}),
        ("cores", "attention", {"siblings": 2}),
        ("cores", "attention", {"siblings": None, "crowding": 2.2}),
        ("frequency", "attention", {"governors": ("powersave",)}),
        ("turbo", "attention", {"turbo": True}),
        ("CPU quota", "attention", {"quota": 1.5}),
        ("CPU quota", "unfit", {"quota": 0.5}),
        ("memory", "unfit", {"memory_limit": GIB}),
        ("memory", "unfit", {"memory": GIB}),
        ("swap", "attention", {"swap_used": GIB}),
        ("disk", "unfit", {"scratch_free": GIB}),
        ("disk", "attention", {"scratch_kind": "nfs"}),
        ("compiler", "unfit", {"compiler": None}),
        ("instructions", "attention", {"instructions": None}),
    ],
)
def test_each_trouble_is_named_with_what_to_do(
    what: str, state: str, changes: dict[str, Any]
) -> None:
    (found,) = (one for one in judge(replace(GOOD, **changes)) if one.subject == what)
    assert found.state == state
    assert found.advice


def test_threads_of_the_environment_do_no_harm_and_are_said() -> None:
    assert states(threads=("OMP_NUM_THREADS",))["threads"] == "fine"


def test_this_machine_can_be_looked_at() -> None:
    facts = look()
    assert facts.cpus >= 1
    assert 0 < facts.memory <= os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert facts.swap_used >= 0
    assert 0 <= facts.stolen <= 1
    assert judge(facts)


def test_the_file_system_is_that_of_the_nearest_mount() -> None:
    assert fitness._file_system(Path("/proc/self")) == "proc"
    assert fitness._file_system(Path("/")) not in ("proc", "unknown")


def test_a_busy_machine_is_told_and_a_quiet_one_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(os, "getloadavg", lambda: (9.6, 8.0, 7.0))
    assert "9.6 processes competed for 2 CPUs" in fitness.busy()
    monkeypatch.setattr(os, "getloadavg", lambda: (1.9, 8.0, 7.0))
    assert fitness.busy() == ""


def test_what_makes_a_machine_unfit_is_said_without_timing_anything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def never() -> Any:
        raise AssertionError("nothing may be timed")

    monkeypatch.setattr(fitness, "_steadiness", never)
    monkeypatch.setattr(fitness, "_crowding", never)
    found = look(timed=False)
    monkeypatch.setattr(fitness, "look", lambda *, timed: replace(found, memory=2 * GIB, quota=0.5))
    assert "a control group limits processes to 0.5 of" in fitness.unfit()


def test_a_process_that_fails_leaves_open_whether_cores_are_shared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    assert fitness._crowding() is None


@pytest.mark.parametrize(
    ("changes", "at_once"),
    [
        ({}, 2),
        ({"load": 5.2}, 5),
        ({"load": 30.0}, 6),
        ({"load": 30.0, "memory": 3 * GIB}, 3),
        ({"load": 30.0, "memory_limit": GIB}, 2),
    ],
)
def test_a_busy_machine_counts_more_samples_at_a_time_as_memory_allows(
    changes: dict[str, Any], at_once: int
) -> None:
    assert fitness.at_a_time(2, replace(GOOD, **changes)) == at_once
