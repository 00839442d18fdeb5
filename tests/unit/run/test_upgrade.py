"""Which cells an upgrade is measured in, and whose cache each of its samples starts from."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from observatory.benchmarks.catalogue import Cell
from observatory.benchmarks.plan import Task
from observatory.run.sources import SubjectError
from observatory.run.upgrade import Chain, cells_of
from observatory.store.records.sample import Sample
from tests.factories import sample

LINALG = Cell("linalg", "upgrade", "NUMBA", "spawn")


@dataclass
class FakeExecutor:
    """Leaves the caches that a task wants kept, unless the process dies."""

    name: str
    caches: Path
    said: list[str]
    dies: bool = False
    tasks: list[Task] = field(default_factory=list)

    def run(self, task: Task) -> Sample:
        self.said.append(f"{self.name} on {task.cache or 'nothing'}")
        for kept in (task.keep, task.keep_fresh):
            if kept and not self.dies:
                (self.caches / kept).mkdir()
        return sample(task.cell, "counting")


def chained(caches: Path, *names: str, dies: str = "") -> tuple[list[str], list[str]]:
    """What was taken on what, in order, and whether the head of each pair used a cache."""
    said: list[str] = []
    chain = Chain([LINALG], lambda name, taken: None)
    first, *others = (FakeExecutor(name, caches, said, name == dies) for name in names)
    before = (first.name, first, chain.first(first.name, first))  # type: ignore[arg-type]
    pairs = []
    for head in others:
        (part,), fresh = chain.turns(before, (head.name, head))  # type: ignore[arg-type]
        pairs.append("used" if part.failure is None else part.failure)
        before = (head.name, head, fresh)
    return said, pairs


def test_each_subject_uses_the_cache_of_the_one_before_it_which_then_comes_back(
    tmp_path: Path,
) -> None:
    said, pairs = chained(tmp_path, "a", "b", "c")
    assert said == [
        "a on nothing",
        "b on a-linalg-NUMBA",
        "a on b-on-a-linalg-NUMBA",
        "c on b-linalg-NUMBA",  # what b left when it built from nothing, not on a's
        "b on c-on-b-linalg-NUMBA",
    ]
    assert pairs == ["used", "used"]


def test_where_a_subject_left_no_cache_the_next_one_begins_anew(tmp_path: Path) -> None:
    said, pairs = chained(tmp_path, "a", "b", "c", "d", dies="b")
    assert said == [
        "a on nothing",
        "b on a-linalg-NUMBA",
        "c on nothing",
        "d on c-linalg-NUMBA",
        "c on d-on-c-linalg-NUMBA",
    ]
    assert pairs == ["used", "nothing was filled: ok", "used"]


def test_every_model_that_a_backend_has_is_taken() -> None:
    cells = cells_of(None, ["NUMBA", "C"])
    assert [(cell.backend, cell.model) for cell in cells] == [
        ("NUMBA", "radon"), ("NUMBA", "randoms"), ("NUMBA", "linalg"), ("C", "radon"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("models", "backends", "said"),
    [
        (["radon", "linalg"], ["C"], "model linalg is not measured with backend C"),
        (None, ["NUMBA", "TPU"], "there is no backend 'TPU'"),
        (["closures"], ["NUMBA"], "scenario upgrade is not measured with model closures"),
    ],
)
def test_what_was_named_and_cannot_be_is_said(
    models: list[str] | None, backends: list[str], said: str
) -> None:
    with pytest.raises(SubjectError, match=said):
        cells_of(models, backends)
