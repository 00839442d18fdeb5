"""Work in parts gives what all of it at once gives, wherever the parts are done."""

from __future__ import annotations

import gc
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import distributed
import numpy as np
import pytest

from observatory.analyze.history.segments import levels_of
from observatory.app import kept_levels as module
from observatory.app import parts
from observatory.app.kept_levels import KeptLevels, levels_of_part
from observatory.app.parts import Processes, mapped
from tests.factories_alerts import line, series

NOISE = np.random.default_rng(3).normal(1, 0.01, (9, 40))
NOISE[4, 20:] *= 1.5
ALL = [series(line(40), values) for values in NOISE]


def test_results_are_in_the_order_of_the_items(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Processes, "allowed", True)
    expected = levels_of_part(NOISE)
    assert expected[4] != expected[3]
    assert mapped(levels_of_part, NOISE, 2) == expected  # in processes, where there are two CPUs
    with ThreadPoolExecutor(3) as executor:
        assert mapped(levels_of_part, NOISE, 2, executor) == expected
    assert mapped(levels_of_part, [], 2) == []


@pytest.mark.parametrize("allowed", [False, True])
def test_after_each_part_values_can_be_let_go(
    allowed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Processes, "allowed", allowed)
    calls: list[None] = []
    mapped(levels_of_part, NOISE, 4, after=lambda: calls.append(None))
    assert len(calls) == 3


def test_a_cluster_does_the_same_parts() -> None:
    """Its two workers are threads, which parts reach by TCP, pickled as for any other worker."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, protocol="tcp://",
            dashboard_address=None,
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):  # fmt: skip
        found = mapped(levels_of_part, NOISE, 2, client.get_executor(pure=False))
    assert found == levels_of_part(NOISE)


def collectors(part: Sequence[int]) -> list[tuple[int, int, int]]:
    """How the garbage collector is set where a part is done."""
    return [gc.get_threshold() for _ in part]


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one CPU starts no processes")
def test_the_processes_of_parts_look_for_garbage_as_seldom_as_commands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Processes, "allowed", True)
    # tests/conftest.py has set the collector of this process; theirs begin as Python sets it.
    assert mapped(collectors, [0, 1], 1) == [gc.get_threshold()] * 2


def test_one_part_starts_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "_in_processes", None)
    monkeypatch.setattr(Processes, "allowed", False)
    assert mapped(levels_of_part, NOISE, 2) == levels_of_part(NOISE)  # a script of somebody
    monkeypatch.setattr(Processes, "allowed", True)
    assert mapped(levels_of_part, NOISE, 9) == levels_of_part(NOISE)


def test_levels_found_ahead_are_those_that_would_be_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PART", 3)
    monkeypatch.setattr(module, "ALONE", 3)
    expected = [levels_of(values)[1] for values in NOISE]
    levels = KeptLevels(tmp_path / "levels")
    levels.ahead(ALL)
    monkeypatch.setattr(module, "levels_of", None)  # nothing is looked for a second time
    assert [levels(one)[1] for one in ALL] == expected
    levels.save()
    again = KeptLevels(tmp_path / "levels")
    monkeypatch.setattr(module, "mapped", None)
    again.ahead(ALL)
    assert [again(one)[1] for one in ALL] == expected
