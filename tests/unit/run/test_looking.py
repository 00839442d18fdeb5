"""Pairs are measured from one cache, with an executor that starts no process."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pytest

from observatory.benchmarks.described import DescribedGraph, DescribedPair, Node, Source, read_pairs
from observatory.benchmarks.plan import Task
from observatory.run import looking
from observatory.run.looking import Found, Looker, LookingError, findings
from observatory.store.records.sample import Sample
from tests.factories import sample

X = Source("float64", (3,), ("0.75", "-1.5", "2.25"), (None,))


def pair(first: str, second: str) -> DescribedPair:
    one, other = (DescribedGraph((X,), (Node(op, (0,)),), (1,)) for op in (first, second))
    return DescribedPair(one, other, "operation")


class Recorded:
    """Stands for the executor: it notes the tasks and the pairs, and fills a cache."""

    seen: ClassVar[list[tuple[Task, dict[str, DescribedPair]]]]
    failing = ""

    def __init__(self, environment: Any, caches: Path, timeout: float, graphs: Path) -> None:
        self.caches, self.graphs = caches, graphs
        assert timeout == 7.0

    def run(self, task: Task) -> Sample:
        pairs = read_pairs(self.graphs)
        self.seen.append((task, pairs))
        if task.keep:
            (self.caches / task.keep).mkdir()
        assert not task.cache or (self.caches / task.cache).is_dir()
        status = "timeout" if task.cell.scenario == self.failing else "ok"
        steps = [{"name": name, "metrics": {}} for name in pairs]
        return sample(task.cell, "counting", status=status, steps=steps)


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> type[Recorded]:
    class Own(Recorded):
        seen: ClassVar[list[tuple[Task, dict[str, DescribedPair]]]] = []

    monkeypatch.setattr(looking, "Executor", Own)
    return Own


def looker(tmp_path: Path) -> Looker:
    return Looker(None, "C_VM", tmp_path, 7.0)  # type: ignore[arg-type]


def test_the_second_graphs_are_built_from_the_cache_of_the_first_ones(
    tmp_path: Path, recorded: type[Recorded]
) -> None:
    pairs = {"one": pair("tanh", "neg"), "two": pair("abs", "sqr")}
    found = looker(tmp_path).look(pairs)
    assert [(str(task.cell), task.measure) for task, _ in recorded.seen] == [
        ("keys pairs_first C_VM spawn", "counting"), ("keys pairs_second C_VM spawn", "counting"),
    ]  # fmt: skip
    assert [named for _, named in recorded.seen] == [pairs, pairs]
    (filling, _), (reading, _) = recorded.seen
    assert filling.keep == reading.cache is not None
    assert (filling.cache, reading.keep) == (None, None)
    assert found.firsts == found.seconds == dict.fromkeys(pairs, Found(""))
    assert not (tmp_path / str(filling.keep)).exists()  # or the next pairs would start from it


def test_other_first_graphs_can_fill_the_cache(tmp_path: Path, recorded: type[Recorded]) -> None:
    others = {"two": pair("abs", "sqr")}
    one = {"one": pair("tanh", "neg")}
    found = looker(tmp_path).look(one, others)
    assert [named for _, named in recorded.seen] == [others, one]
    assert (list(found.firsts), list(found.seconds)) == (["two"], ["one"])


@pytest.mark.parametrize("failing", ["pairs_first", "pairs_second"])
def test_a_sample_that_fails_as_a_whole_is_told_and_leaves_no_cache(
    failing: str, tmp_path: Path, recorded: type[Recorded]
) -> None:
    recorded.failing = failing
    with pytest.raises(LookingError, match=f"keys {failing} C_VM spawn: "):
        looker(tmp_path).look({"one": pair("tanh", "neg")})
    assert not any(path.is_dir() for path in tmp_path.iterdir())


def test_a_wrong_value_is_a_finding_and_a_collision_is_named_once() -> None:
    steps = [
        {"name": "a", "metrics": {}},
        {"name": "b", "metrics": {}, "status": "collided", "note": "why"},
        {"name": "c", "metrics": {}},
    ]
    checks = [
        {"name": name, "logp_error": 1.0, "gradient_error": None, "wrong": name != "c",
         "note": "2.0"}
        for name in ("a", "b", "c")
    ]  # fmt: skip
    found = findings(sample(steps=steps, checks=checks))
    assert found == {"a": Found("wrong", "2.0"), "b": Found("collided", "why"), "c": Found("")}
