"""Which Ops have a graph, and why others have none, without PyTensor."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from observatory.benchmarks import dispatch, process
from observatory.benchmarks.catalogue import MODELS, Cell
from observatory.benchmarks.models.parts.ops.untried import WITHOUT_GRAPH
from observatory.benchmarks.process import Exit
from observatory.benchmarks.request import Request
from observatory.benchmarks.sample import _covers_ops
from observatory.benchmarks.sandbox import Sandbox

IMPLEMENTED = {
    "tensor.math.Sum": ("c", "numba"),
    "tensor.math.Prod": ("numba",),
    "printing.Print": (),
}


def test_what_no_graph_has_is_listed_with_its_backends() -> None:
    found = dispatch.coverage(IMPLEMENTED, ["tensor.math.Sum", "of.another.Release"])
    assert found.implemented == {"c": 1, "numba": 2}
    assert found.untried == {"printing.Print": (), "tensor.math.Prod": ("numba",)}


def test_a_reason_is_of_a_class_wherever_it_is_defined_or_of_a_module() -> None:
    why = MODELS["ops"].why_untried
    assert why("tensor.elemwise.CAReduce") == why("elsewhere.CAReduce") != ""
    assert why("sparse.rewriting.AnyName")
    assert not why("tensor.math.CAReduceOfMine")
    assert not why("sparse.basic.AnyName")


def test_reasons_are_clauses() -> None:
    assert all(why and why[0].islower() and not why.endswith(".") for why in WITHOUT_GRAPH.values())


def test_only_the_sample_that_builds_all_graphs_from_empty_says_what_no_graph_has() -> None:
    def says(model: str, scenario: str, measure: str = "counting") -> bool:
        return _covers_ops(Request(Cell(model, scenario, "NUMBA", "spawn"), measure))

    assert says("ops", "census_cold")
    assert not says("ops", "census_cold", "timing")
    assert not says("ops", "census_warm")
    assert not says("ops_quick", "census_cold")
    assert not says("keys", "pairs_first")
    assert not says("radon", "cold")


def test_classes_are_found_by_the_names_that_a_module_registers() -> None:
    class Module:
        Op = int

    known = {"Here": str, "away": Module, "number": 3}
    named = {
        text: dispatch._class_named(ast.parse(text, mode="eval").body, known)
        for text in ("Here", "away.Op", "away.Missing", "number", "nothing", "Here()")
    }
    assert named == {
        "Here": str, "away.Op": int, "away.Missing": None, "number": None, "nothing": None,
        "Here()": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("printed", "untried"),
    [
        ('a warning\n\nimplemented: {"a.B": ["c"]}\nan exit hook\n', {"a.B": ("c",)}),
        ("a warning\n", None),
        ("implemented: {\n", None),
    ],
)
def test_what_a_library_prints_beside_it_does_not_end_the_sample(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, printed: str, untried: object
) -> None:
    def supervise(_command: object, _work: object, _env: object, output: Path, *_: object,
                  role: str) -> Exit:  # fmt: skip
        assert role == "dispatch"
        output.write_text(printed)
        return Exit(0, False, (), 0.0, 1.0, 0)

    monkeypatch.setattr(process, "supervise", supervise)
    box = Sandbox(tmp_path, 0, tmp_path, tmp_path, tmp_path, tmp_path)
    found = dispatch.take(box, {}, 1.0, ())
    assert (found and found.untried) == untried
