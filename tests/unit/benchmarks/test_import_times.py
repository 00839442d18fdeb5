"""What `python -X importtime` writes, as modules with their own seconds."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observatory.benchmarks import import_times
from observatory.benchmarks.catalogue import Cell
from observatory.benchmarks.import_times import imported
from observatory.benchmarks.plan import Rounds, plan

NAMES = st.text("abc._<>; |é", min_size=1).filter(lambda name: name == name.strip())
MODULES = st.recursive(
    st.tuples(NAMES, st.integers(0, 10**9), st.just([])),
    lambda below: st.tuples(NAMES, st.integers(0, 10**9), st.lists(below, max_size=4)),
)


def lines(module, depth=0):
    name, own, below = module
    for one in below:
        yield from lines(one, depth + 1)
    yield f"import time: {own:9} | {own:10} | {'  ' * depth}{name}"


def nodes(module, depth=0):
    name, own, below = module
    yield name, depth, own / 1_000_000
    for one in reversed(below):
        yield from nodes(one, depth + 1)


@given(st.lists(MODULES, max_size=4))
def test_what_was_written_is_read_and_what_the_interpreter_imports_is_not(modules):
    whole = [("numba", 3, modules), ("site", 5, modules)]
    text = "\r\n".join(["a warning", *(line for one in whole for line in lines(one))])
    assert [(one.name, one.depth, one.seconds) for one in imported(text)] == [*nodes(whole[0])]


def test_modules_whose_importer_was_not_written_are_left_out():
    text = "import time: 5 | 5 | numba\nimport time: 7 | 7 |   b\n"
    assert [one.name for one in imported(text)] == ["numba"]


def test_a_real_import_is_read(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(import_times, "ROOTS", ("json",))
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", "import json"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = [(one.name, one.depth) for one in imported(done.stderr)]
    assert found[0] == ("json", 0)
    assert ("json.decoder", 1) in found


def test_one_traced_sample_in_a_fresh_interpreter_says_what_importing_takes():
    cells = [Cell("radon", "cold", "NUMBA", launch) for launch in ("fork", "spawn")]
    (marked,) = [task for task in plan(cells, Rounds(1, 1, 2)) if task.imports]
    assert (marked.measure, marked.cell.launch) == ("tracing", "spawn")
