from __future__ import annotations

from typing import Any

import pytest

from observatory.benchmarks.catalogue import Cell
from observatory.guard.verdicts import judge, worst
from observatory.store.records.sample import Check, Failure, Sample
from observatory.text.guard import brief, notes, sentence, sibling_table
from tests import factories

FORK = Cell("radon", "siblings", "NUMBA", "fork")


def check(name: str, note: str | None = None) -> Check:
    return Check(name=name, logp_error=0.0, gradient_error=0.0, wrong=bool(note), note=note)


def sample(cell: Cell = FORK, checks: tuple[Check, ...] = (), **changes: Any) -> Sample:
    checks = checks or (check("one"), check("two"))
    return factories.sample(cell, "counting", checks=list(checks), **changes)


CRASHED = {"status": "killed", "failure": Failure(message="sibling two: died of SIGSEGV")}


def test_siblings_that_return_the_reference_are_right() -> None:
    assert judge(sample()).fate == "right"


def test_a_wrong_value_is_told_with_whose_it_is() -> None:
    found = judge(sample(checks=(check("one"), check("two", "logp -1935.23 is that of one"))))
    assert (found.fate, brief(found)) == ("wrong", "1 of 2 WRONG")
    assert notes(found) == ["two: logp -1935.23 is that of one"]


def test_wrong_values_outrank_a_crash_of_the_same_siblings() -> None:
    assert judge(sample(checks=(check("one", "wrong"),), **CRASHED)).fate == "wrong"


def test_a_crash_and_what_was_not_measured_are_told_apart() -> None:
    assert judge(sample(**CRASHED)).fate == "crashed"
    nothing = {"status": "unavailable", "failure": Failure(message="numba is not installed")}
    found = judge(sample(**nothing))
    assert (found.fate, notes(found)) == ("not judged", ["numba is not installed"])


def test_right_values_over_shared_symbols_are_luck() -> None:
    found = judge(sample(metrics={"collided_symbols": 14}))
    assert found.fate == "shared symbols"
    assert "14 symbols" in notes(found)[0]


@pytest.mark.parametrize(
    ("fates", "expected"),
    [
        (["right", "crashed", "wrong"], "wrong"),
        (["right", "crashed", "not judged"], "crashed"),
        (["right", "not judged"], "not judged"),
        (["right"], "right"),
        ([], "not judged"),
    ],
)
def test_the_worst_decides(fates: list[str], expected: str) -> None:
    every = {
        "right": judge(sample()),
        "crashed": judge(sample(**CRASHED)),
        "wrong": judge(sample(checks=(check("one", "wrong"),))),
        "not judged": judge(sample(status="unavailable")),
    }
    assert worst(every[fate] for fate in fates) == expected


def test_the_table_has_every_cell_also_of_graphs_that_are_built_one_by_one() -> None:
    pairs = judge(sample(Cell("keys_quick", "pairs_keys", "NUMBA", "spawn")))
    nested = Cell("closures", "siblings_nested", "NUMBA", "fork")
    wrong = judge(sample(nested, checks=(check("times_3", "[2.] is what times_2 returns"),)))
    found = sibling_table("2.37.0", [pairs, wrong, judge(sample())])
    assert found.header == ("model", "scenario", "fork", "spawn")
    assert found.rows == (
        ("radon", "siblings", "right", ""),
        ("closures", "siblings_nested", "1 of 1 WRONG", ""),
        ("keys_quick", "pairs_keys", "", "right"),
    )
    assert found.footnotes == (
        "closures, times_3: [2.] is what times_2 returns (siblings_nested fork)",
    )
    assert sentence("2.37.0", [judge(sample()), wrong]) == (
        "2.37.0: WRONG NUMBERS in 1 cell, right in 1 cell."
    )


def test_what_is_wrong_in_many_cells_is_said_once() -> None:
    wrong = [
        judge(sample(Cell("closures", scenario, "NUMBA", "fork"), checks=(check("times_3", "x"),)))
        for scenario in ("siblings", "siblings_at_once", "siblings_nested")
    ]
    assert sibling_table("2.37.0", wrong).footnotes == (
        "closures, times_3: x (siblings fork and 2 more cells)",
    )
