"""What a fork does with its graph: its counts, and what it is used for further."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from observatory.benchmarks import each
from observatory.benchmarks.bench import Bench
from observatory.benchmarks.catalogue import Cell
from observatory.benchmarks.messages import Job
from observatory.benchmarks.models import NotInThisRelease
from observatory.benchmarks.models.parts.small import Member, SmallModel
from observatory.benchmarks.models.parts.topics.topic import Used
from observatory.benchmarks.probes.graphs import Noted

CELL = Cell("topics", "topics", "NUMBA", "spawn")


@pytest.fixture(autouse=True)
def _without_pytensor(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def nothing() -> Iterator[Any]:
        yield []

    @contextmanager
    def no_graphs() -> Iterator[Noted]:
        yield Noted()

    monkeypatch.setattr(each, "noticing", nothing)
    monkeypatch.setattr(each, "noting_graphs", no_graphs)


def taken(make: Callable[[Bench], Used], right_again: float = 2.0) -> Bench:
    """A bench that took one graph, which returns 1.0 and then what its further use returns."""
    member = Member(
        lambda _: make(bench),
        lambda value: abs(value - 1.0),
        tells=("compiled_again",),
        error_again=lambda value: abs(value - right_again),
    )
    bench = Bench(
        SmallModel({"one": member}), "NUMBA", "spawn", None, "counting", probed=True, weighed=False
    )
    each.take(bench, Job("each", CELL, "counting", ("one",), None, Path("report")))
    return bench


def compile_one(bench: Bench, outcome: Any, value: float) -> float:
    with bench.ledger.entry("function", "numba") as entry:
        entry.outcome = outcome
    return value


def test_what_a_further_use_compiles_is_counted_apart_and_belongs_to_the_graph() -> None:
    def make(bench: Bench) -> Used:
        compile_one(bench, "miss", 0.0)
        return Used(
            lambda: 1.0,
            lambda: compile_one(bench, "uncacheable", compile_one(bench, "miss", 2.0)),
        )

    bench = taken(make)
    (step,) = bench.steps
    assert (step.status, step.metrics["cache_misses"]) == ("ok", 1)
    assert step.metrics["compiled_again"] == 2
    assert {entry.step for entry in bench.ledger.entries} == {"one"}
    assert not any(check.wrong for check in bench.checks)


def test_a_wrong_value_of_a_further_use_is_wrong() -> None:
    bench = taken(lambda _: Used(lambda: 1.0, lambda: np.float64(3.0)))
    assert [check.wrong for check in bench.checks] == [False, True]


def test_a_further_use_that_raises_is_the_result_of_its_graph() -> None:
    bench = taken(lambda _: Used(lambda: 1.0, lambda: 1 // 0))
    (step,) = bench.steps
    assert (step.status, step.note) == (
        "raised", "ZeroDivisionError: integer division or modulo by zero",
    )  # fmt: skip
    assert "compiled_again" not in step.metrics


def test_a_graph_that_the_release_lacks_is_absent() -> None:
    def make(_: Bench) -> Used:
        raise NotInThisRelease("no such Op")

    (step,) = taken(make).steps
    assert (step.status, step.note, step.metrics) == ("absent", "no such Op", {})
