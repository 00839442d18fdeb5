"""The scenarios that build many graphs, each in a fork of its own of one process.

What they do with each is in `benchmarks.each`.
"""

from __future__ import annotations

from .scenario import Scenario

_CENSUS_SECONDS = {"C_VM": 240.0, "NUMBA": 120.0}
_PATH_SECONDS = {"C_VM": 180.0, "NUMBA": 150.0}

APART = (
    Scenario(
        "path_cold",
        "each step of a user of PyMC is taken by a fork of one process; they fill one cache",
        "path",
        _PATH_SECONDS,
        launches=("spawn",),
        suite="canary",
        headline="step_time",
        apart=True,
        walked=True,
    ),
    Scenario(
        "path_warm",
        "each step is taken by a fork of a fresh process, with a copy of the cache that "
        "`path_cold` filled",
        "path",
        {name: seconds / 2 for name, seconds in _PATH_SECONDS.items()},
        launches=("spawn",),
        suite="canary",
        headline="step_time",
        filled_by="path_cold",
        warm=True,
        apart=True,
        walked=True,
    ),
    Scenario(
        "census_cold",
        "every graph of a model is built by a fork of one process; they fill one cache",
        "census",
        _CENSUS_SECONDS,
        suite="canary",
        long=True,
        apart=True,
        compared=True,
    ),
    Scenario(
        "census_warm",
        "every graph is built by a fork of a fresh process, with a copy of the cache that "
        "`census_cold` filled",
        "census",
        {name: seconds / 5 for name, seconds in _CENSUS_SECONDS.items()},
        suite="canary",
        filled_by="census_cold",
        warm=True,
        long=True,
        apart=True,
        compared=True,
    ),
    Scenario(
        "topics",
        "every graph of a topic is built and used further by a fork of one process, each with an "
        "empty cache",
        "topics",
        {"C_VM": 240.0, "NUMBA": 150.0},
        launches=("spawn",),
        suite="canary",
        long=True,
        apart=True,
        emptied=True,
        tells=(
            "graph_nodes",
            "blockwise_nodes",
            "branch_evaluations",
            "stored_steps",
            "compiled_again",
        ),
        compared=True,
    ),
    Scenario(
        "pairs_first",
        "the first graph of every pair is built by a fork of one process; they fill one cache",
        "pairs",
        _CENSUS_SECONDS,
        suite="canary",
        long=True,
        apart=True,
        of_pair="first",
    ),
    Scenario(
        "pairs_second",
        "the second graph of every pair is built by a fork of a fresh process, with a copy of the "
        "cache that `pairs_first` filled",
        "pairs",
        _CENSUS_SECONDS,
        suite="canary",
        filled_by="pairs_first",
        long=True,
        apart=True,
        of_pair="second",
    ),
    Scenario(
        "pairs_keys",
        "the keys of both graphs of every pair are compared by a fork of one process; a pair whose "
        "keys are suspect is built as by `pairs_first` and `pairs_second`",
        "pairs",
        {"NUMBA": 25.0},
        suite="canary",
        long=True,
        apart=True,
        of_pair="keys",
        compared=True,
    ),
    Scenario(
        "key_making",
        "every graph is converted by a fork of one process, which makes its keys; nothing is "
        "compiled or called",
        "key_making",
        {"NUMBA": 10.0},
        suite="canary",
        headline="key_time",
        long=True,
        apart=True,
        tells=("key_calls",),
    ),
    Scenario(
        "freezing",
        "inner graphs are frozen, hashed or compared by a fork of one process for each; nothing is "
        "compiled",
        "freezing",
        {"NUMBA": 10.0},
        launches=("spawn",),
        suite="canary",
        headline="frozen_time",
        long=True,
        apart=True,
        tells=("frozen_calls", "frozen_kept"),
    ),
    Scenario(
        "growth",
        "every size of every family is built and called by a fork of one process, each with an "
        "empty cache",
        "growth",
        {"C_VM": 90.0, "NUMBA": 120.0},
        launches=("spawn",),
        suite="canary",
        headline="cpu_time",
        long=True,
        apart=True,
        emptied=True,
    ),
)
"""Their records, in the order of the catalogue."""
