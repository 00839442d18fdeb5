from __future__ import annotations

from pathlib import Path

import pytest

from observatory.guard.scan import scanning as module
from observatory.guard.scan.scanning import Origins

OP, OTHER, GRAPH, SECOND = (Path(name) for name in ("op", "other", "graph", "second"))


def origins(**files: tuple[str, str]) -> Origins:
    """Files by name: symbols of own functions, and of what is linked into them besides."""
    made = Origins()
    for name, (own, linked) in files.items():
        made.add(Path(name), own.split(), [*own.split(), *linked.split()])
    return made


def test_a_file_that_is_linked_into_others_is_their_root() -> None:
    found = origins(op=("add", "inner"), graph=("f", "add inner mul"), second=("g", "add inner"))
    assert found.roots([GRAPH, OP, SECOND]) == [OP]
    assert found.roots([GRAPH, SECOND]) == [GRAPH, SECOND]


def test_a_file_that_is_linked_in_part_is_not_taken_for_a_root_of_the_other() -> None:
    assert origins(op=("add", "inner more"), graph=("f", "add inner")).roots([OP, GRAPH]) == [
        OP, GRAPH,
    ]  # fmt: skip
    assert origins(op=("add", "inner"), graph=("f", "inner")).roots([OP, GRAPH]) == [OP, GRAPH]


def test_files_for_one_symbol_are_roots_each_and_explain_no_other() -> None:
    found = origins(op=("add", "inner"), other=("add", "inner"), graph=("f", "add inner"))
    assert found.roots([OP, OTHER, GRAPH]) == [OP, OTHER, GRAPH]
    assert found.roots([OP, GRAPH]) == [OP, GRAPH]


def test_files_that_are_linked_into_each_other_are_roots() -> None:
    assert origins(op=("add", "mul"), other=("mul", "add")).roots([OP, OTHER]) == [OP, OTHER]


def test_files_without_a_function_of_their_own_explain_nothing() -> None:
    assert origins(op=("", "inner"), graph=("f", "inner")).roots([OP, GRAPH]) == [OP, GRAPH]


def test_what_takes_too_long_to_tell_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_COMPARED", 2)
    found = origins(op=("add", "inner"), graph=("f", "add inner"))
    assert found.roots([OP, GRAPH]) == [OP, GRAPH]


def test_it_knows_which_symbols_it_has() -> None:
    found = origins(op=("add", "inner"))
    assert "inner" in found
    assert "add" in found
    assert "mul" not in found
