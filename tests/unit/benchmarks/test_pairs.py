"""The registry of pairs and how their results are compared, without compiling anything."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from observatory.benchmarks.catalogue import MODELS
from observatory.benchmarks.models.parts.pairs import registry
from observatory.benchmarks.models.parts.pairs.coverage import covered
from observatory.benchmarks.models.parts.pairs.pair import (
    FIRST,
    Pair,
    Pairs,
    Side,
    error_of,
    graph_of,
)
from observatory.benchmarks.models.parts.pairs.registry import PAIRS
from observatory.benchmarks.models.parts.pairs.unseen import WITHOUT_PAIR

ROOT = Path(__file__).parents[3]
KINDS = {
    "differ.broadcast", "differ.class", "differ.constant", "differ.draws", "differ.edges",
    "differ.flags", "differ.inner", "differ.inputs", "differ.layout", "differ.linkers",
    "differ.modules",
    "differ.outputs", "differ.printed", "differ.props", "differ.size", "differ.types",
    "differ.unkeyed", "differ.version",
}  # fmt: skip
NOTHING = Side(lambda _: [])
VALUES = Pair(NOTHING, NOTHING)


def test_the_catalogue_has_every_pair_and_says_which_are_equal() -> None:
    model = MODELS["keys"]
    assert model.members == tuple(PAIRS)
    assert model.equal == tuple(name for name in PAIRS if name.startswith("equal."))
    assert all(PAIRS[name].equal == (name in model.equal) for name in PAIRS)


def test_no_two_topics_use_one_name() -> None:
    names = Counter(name for topic in registry._TOPICS for name in topic.PAIRS)
    assert [name for name, count in names.items() if count > 1] == []
    assert set(names) == set(PAIRS)


@pytest.mark.parametrize("name", PAIRS)
def test_names_are_words_between_dots(name: str) -> None:
    assert re.fullmatch(r"(differ|equal)(\.[A-Za-z][A-Za-z0-9_]*){1,3}", name)
    assert len(name) < 80


def test_there_are_pairs_of_every_kind() -> None:
    kinds = {".".join(name.split(".")[:2]) for name in PAIRS if name.startswith("differ.")}
    assert kinds == KINDS
    assert len(PAIRS) >= 150
    assert sum(name.startswith("differ.props.") for name in PAIRS) >= 100
    assert sum(name.startswith("equal.") for name in PAIRS) >= 30


def test_a_property_has_a_pair_or_a_reason_and_not_both() -> None:
    assert covered("Sum.axis")
    assert covered("CauchyRV.dtype")
    assert covered("Solve.overwrite_a")
    assert not covered("Sum.something_new")
    assert not [name for name in WITHOUT_PAIR if f"differ.props.{name}" in PAIRS]
    assert all(reason and not reason.endswith(".") for reason in WITHOUT_PAIR.values())


def test_the_names_are_known_without_numpy() -> None:
    code = (
        "import sys, observatory.benchmarks.models.keys as keys; assert keys.MODEL.members; "
        "sys.exit(bool({'numpy', 'pytensor'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_a_name_stands_for_the_second_graph_and_says_if_it_is_the_first() -> None:
    made = []

    def side(which: str) -> Side:
        return Side(lambda _: made.append(which))

    pairs = Pairs({"one": Pair(side("first"), side("second"))})
    _graph_without_pytensor(pairs, "one")
    _graph_without_pytensor(pairs, FIRST.format("one"))
    assert made == ["second", "first"]


def _graph_without_pytensor(pairs: Pairs, name: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("observatory.benchmarks.models.parts.pairs.pair.Draft", lambda: None)
        pairs.graph(name)


def test_the_result_of_a_graph_whose_flags_allow_errors_is_never_wrong() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("observatory.benchmarks.models.parts.pairs.pair.Draft", lambda: None)
        side = Side(lambda _: [], checked=False)
        assert not graph_of(Pair(side, NOTHING), side).check((np.ones(3),)).wrong


@pytest.mark.parametrize(
    ("found", "right"),
    [
        (np.array([1.0]), np.array([2.0])),
        (np.array([1.0]), np.array(1.0)),
        (np.array([1.0], dtype="float32"), np.array([1.0])),
        (np.array([1]), np.array([1], dtype="int32")),
        (np.array([np.nan]), np.array([1.0])),
        (np.array([1.0]), np.array([np.nan])),
        (np.array([np.inf]), np.array([-np.inf])),
        (np.array([1 + 2j]), np.array([1 - 2j])),
        (np.array([True]), np.array([False])),
        (np.ones((0, 2)), np.ones((2, 0))),
        (np.array([1.0 + 1e-7]), np.array([1.0])),
    ],
)
def test_a_result_is_wrong_in_value_shape_dtype_or_what_is_finite(
    found: np.ndarray[tuple[int, ...], np.dtype[np.generic]],
    right: np.ndarray[tuple[int, ...], np.dtype[np.generic]],
) -> None:
    error = error_of(VALUES, (found,), (right,))
    assert error is None or error > 1
    assert error_of(VALUES, (right,), (right,)) == 0.0
    assert error_of(VALUES, (right, right), (right,)) is None


def test_rounding_is_right() -> None:
    error = error_of(VALUES, (np.array([1.0 + 1e-12, np.nan]),), (np.array([1.0, np.nan]),))
    assert error is not None
    assert error < 1
    error = error_of(VALUES, (np.float32([1.0 + 1e-6]),), (np.float32([1.0]),))
    assert error is not None
    assert error < 1


def test_draws_are_compared_in_shape_and_dtype_and_what_raises_by_its_message() -> None:
    draws = Pair(NOTHING, NOTHING, compared="types")
    assert error_of(draws, (np.array([1.0]),), (np.array([2.0]),)) == 0.0
    assert error_of(draws, (np.ones((1, 2)),), (np.ones((3, 2)),)) is None
    messages = Pair(NOTHING, NOTHING, compared="messages")
    assert error_of(messages, "ValueError: a", "ValueError: a") == 0.0
    assert error_of(messages, "ValueError: a", "ValueError: b") is None
