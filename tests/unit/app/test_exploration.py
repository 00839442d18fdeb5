"""The loop of `explore`: when it ends and what it leaves, with a judge for the processes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from observatory.app import exploration
from observatory.app.exploration import BATCH, explore
from observatory.app.explored import Explored
from observatory.benchmarks.described import DescribedGraph, DescribedPair, Node, Source
from observatory.errors import Exit, SelectionError
from observatory.grow import strategies
from observatory.run.looking import Found, Looked, LookingError
from observatory.run.sources import SubjectError
from observatory.store.records.subject import Subject
from tests.factories import header

X = Source("float64", (3,), ("0.75", "-1.5", "2.25"), (None,))
GRAPH = DescribedGraph((X,), (Node("neg", (0,)),), (1,))
VERSIONS = SimpleNamespace(numba="0.68.0", python="3.13.1", pytensor="3.3.7")


class World:
    """What `explore` asks for, with a clock that each batch turns by a minute."""

    def __init__(self, path: Path) -> None:
        self.path, self.now = path, 0.0
        self.batches: list[tuple[int, int, int]] = []
        self.failing: Exception | None = None
        self.asked: list[Any] = []

    def batch(self, number: int, of_seed: int, size: int) -> list[DescribedPair]:
        self.batches.append((number, of_seed, size))
        return [DescribedPair(GRAPH, GRAPH, "names", "names")] * size

    def looker(self, environment: Any, backend: str, scratch: Path, timeout: float) -> World:
        assert environment.versions is VERSIONS
        self.asked.append((backend, timeout))
        (scratch / "left").touch()
        return self

    def look(self, pairs: Mapping[str, DescribedPair]) -> Looked:
        self.now += 60.0
        if self.failing is not None:
            raise self.failing
        right = dict.fromkeys(pairs, Found(""))
        return Looked(right, right)

    def parse(self, text: str, extras: Any, python: str | None) -> Subject:
        self.asked.append((text, tuple(extras), python))
        return header().subject

    def explore(self, **options: Any) -> Explored:
        places = {"keep": self.path / "kept", "results": self.path / "results",
                  "state": self.path / "state"}  # fmt: skip
        return explore("3.3.7", **{"seed": 5, **places, **options})

    def record(self) -> dict[str, Any]:
        (path,) = (self.path / "results" / "explored").iterdir()
        found: dict[str, Any] = json.loads(path.read_text())
        return found


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    made = World(tmp_path)
    environment = SimpleNamespace(versions=VERSIONS)
    monkeypatch.setattr(strategies, "batch", made.batch)
    monkeypatch.setattr(exploration, "Looker", made.looker)
    monkeypatch.setattr(exploration, "local_subjects", lambda _: made)
    monkeypatch.setattr(exploration, "environment_of", lambda *_: environment)
    monkeypatch.setattr(exploration, "measuring_lock", lambda _: nullcontext())
    monkeypatch.setattr(exploration.time, "monotonic", lambda: made.now)
    return made


def test_no_batch_begins_after_the_number_of_pairs_and_the_last_has_what_is_left(
    world: World,
) -> None:
    found = world.explore(pairs=BATCH + 3, budget=1e6)
    assert world.batches == [(0, 5, BATCH), (1, 5, 3)]
    assert (found.pairs, found.batches, found.tried) == (BATCH + 3, 2, {"names": BATCH + 3})
    assert found.exit_code == Exit.OK


def test_no_batch_begins_after_the_budget(world: World) -> None:
    found = world.explore(budget=100.0)
    assert len(world.batches) == 2
    assert found.seconds == 120.0


def test_a_batch_that_cannot_be_measured_is_told_and_the_next_one_begins(world: World) -> None:
    world.failing = LookingError("keys pairs_first NUMBA spawn: timeout")
    found = world.explore(budget=100.0)
    assert found.failed == ["keys pairs_first NUMBA spawn: timeout"] * 2
    assert (found.pairs, found.batches) == (0, 2)
    assert found.exit_code == Exit.SAMPLE_FAILED


def test_a_run_that_ends_in_the_middle_leaves_a_record_and_no_caches(world: World) -> None:
    world.failing = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        world.explore()
    assert world.record()["batches"] == 1
    assert not any((world.path / "state" / "caches").iterdir())


def test_a_record_says_with_what_it_was_explored(world: World) -> None:
    world.explore(pairs=2, backend="C_VM", timeout=9.0, requirements=["numba==0.68.0"],
                  python="3.13")  # fmt: skip
    assert world.asked == [("3.3.7", ("numba==0.68.0",), "3.13"), ("C_VM", 9.0)]
    record = world.record()
    assert record["versions"] == vars(VERSIONS)
    assert (record["subject"], record["backend"], record["seed"]) == ("3.3.7", "C_VM", 5)


def test_without_a_seed_each_run_has_another(world: World) -> None:
    seeds = {world.explore(pairs=1, seed=None).seed for _ in range(3)}
    assert len(seeds) == 3
    assert {seed for _, seed, _ in world.batches} == seeds


@pytest.mark.parametrize("backend", ["C", "NOTHING"])
def test_a_backend_that_pairs_are_not_measured_with_is_refused(backend: str, world: World) -> None:
    with pytest.raises(SelectionError, match=backend):
        world.explore(backend=backend)
    assert world.asked == []


def test_a_range_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SubjectError, match="names 2 subjects; give exactly one"):
        explore("3.3.6..3.3.7", state=tmp_path, results=tmp_path / "results")
    assert not (tmp_path / "results").exists()
