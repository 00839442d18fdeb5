from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from observatory.benchmarks import process
from observatory.benchmarks.catalogue import Cell
from observatory.benchmarks.fillers import read_seed
from observatory.benchmarks.messages import Job, Report
from observatory.benchmarks.process import Ending, Exit
from observatory.benchmarks.request import Request
from observatory.benchmarks.sandbox import Sandbox
from observatory.benchmarks.shared_cache import differ, take_siblings, take_upgrade


@pytest.fixture
def box() -> Iterator[Sandbox]:
    with Sandbox.open() as made:
        yield made


@pytest.fixture
def seeds(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The hash seeds of the processes that are started, in their order."""
    found: list[int] = []

    def run(_box: Sandbox, job: Job, env: dict[str, str], _limit: float, **_: Any) -> Ending:
        found.append(int(env["PYTHONHASHSEED"]))
        report = Report("ok", values=dict.fromkeys(job.members, (1.0,)))
        return Ending(report, "ok", None, Exit(0, False, (), 0.0, 1.0, 0))

    monkeypatch.setattr(process, "run", run)
    return found


@pytest.mark.parametrize("launch", ["spawn", "fork"])
@pytest.mark.parametrize("scenario", ["siblings", "siblings_at_once", "siblings_reseeded"])
def test_the_hash_seeds_of_siblings_follow_from_that_of_the_record(
    box: Sandbox, seeds: list[int], scenario: str, launch: str
) -> None:
    asked = Request(Cell("radon", scenario, "NUMBA", launch), "counting", only=("up", "down"))
    for seed in (7, 7, 8):
        take_siblings(asked, box, seed)
    count = len(seeds) // 3
    first, again, other = seeds[:count], seeds[count : 2 * count], seeds[2 * count :]
    assert sorted(first) == sorted(again)
    assert set(first) & set(other) == set()
    one_parent = launch == "fork"
    if scenario == "siblings_reseeded":
        # The reader of a fork has another one than the parent; spawned ones have all the same.
        assert len(set(first)) == (2 if one_parent else 1)
    else:
        assert len(set(first)) == (1 if one_parent else count)


def test_the_measured_process_of_an_upgrade_has_the_seed_of_the_record(
    box: Sandbox, seeds: list[int], tmp_path: Path
) -> None:
    fresh = tmp_path / "fresh"
    alone = Request(Cell("radon", "upgrade", "NUMBA", "spawn"), "counting", keep_fresh=fresh)
    take_upgrade(alone, box, 7)
    assert (seeds, read_seed(fresh)) == ([7], 7)
    after = Request(alone.cell, "counting", cache=fresh, keep_fresh=tmp_path / "newer")
    take_upgrade(after, box, 8)
    _, filler, measured = seeds
    assert measured == 8
    assert filler == read_seed(tmp_path / "newer") != 8


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([1.0, -2.0], [1.0, -2.0], False),
        ([1.0], [1.0 + 1e-12], False),  # cold and reloaded code differ in the last bits
        ([1.0], [1.0 + 1e-6], True),
        ([0.0], [0.0], False),
        ([0.0], [1e-300], True),
        ([1.0, 0.0], [1.0, 1e-17], False),  # a difference of two sums that cancel
        ([1.0, 0.0], [1.0, 1e-10], True),
        ([None], [None], False),
        ([None], [1.0], True),
        ([1.0], [1.0, 2.0], True),
        ([], [], False),
    ],
)
def test_values_differ_beyond_the_last_bits(
    one: list[float | None], other: list[float | None], expected: bool
) -> None:
    assert differ(one, other) is expected
    assert differ(other, one) is expected
