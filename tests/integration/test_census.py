"""Many graphs in one sample, on real PyTensor: loaded, left to Python, or confused."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from observatory.benchmarks.models.parts.absent import ABSENT
from observatory.benchmarks.models.parts.pairs.registry import NOT_OF_NUMBA
from observatory.benchmarks.probes.numba_cache import NO_KEY
from observatory.run.environments import Environment
from tests.integration.conftest import Bench, Measured, Shelf
from tests.integration.fault_rig import with_fault

pytestmark = pytest.mark.integration

HELD, REFUSED = ("elementwise.composite", "scan.recurrence"), "nested.list_reverse"
AXIS, NAMES = "differ.props.Sum.axis", "equal.names"
PIVOTING = "differ.props.QR.pivoting"
MADE = ("nodes.10", "nodes.100", "bytes.1000", "bytes.1000000", "graphs.20")


@pytest.fixture
def build(bench: Bench) -> Callable[..., tuple[Measured, Measured]]:
    """Build some members of a model into an empty cache, and then from it."""
    return partial(built, bench)


@pytest.fixture(scope="module")
def ops(
    newest: Environment, shelf: Shelf, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Measured, Measured]:
    """Graphs that numba's cache holds and one that it refuses, built once; none of them sums."""
    bench = Bench(newest, tmp_path_factory.mktemp("ops"), shelf)
    return built(bench, "ops", "NUMBA", *HELD, REFUSED)


def built(
    bench: Bench, model: str, backend: str, *members: str, fault: str | None = None
) -> tuple[Measured, Measured]:
    """Some members of a model, built into an empty cache, and then from it."""
    where = bench.environment
    if fault is not None:
        where = with_fault(where, fault, bench.shelf)
    some = replace(bench.within(where), graphs=members)
    first, second = ("pairs_first", "pairs_second") if model == "keys" else (
        "census_cold", "census_warm"
    )  # fmt: skip
    cache = some.scratch / "cache"
    options = ("--model", model, "--pass", "counting", "--launch", "spawn")
    cold = some.sample(first, backend, *options, "--keep-cache", str(cache))
    warm = some.sample(second, backend, *options, "--cache", str(cache))
    for found in (cold, warm):
        assert found.record["status"] == "ok", found.record["failure"]
        assert [step["name"] for step in found.record["steps"]] == list(members)
    return cold, warm


def step(found: Measured, name: str) -> dict[str, Any]:
    (one,) = [step for step in found.record["steps"] if step["name"] == name]
    return one


def test_a_fresh_process_finds_every_graph_in_the_cache(ops: tuple[Measured, Measured]) -> None:
    cold, warm = ops
    for name in HELD:
        assert step(cold, name)["metrics"]["cache_misses"] > 0
        assert set(step(warm, name)["metrics"].values()) == {0}
        assert {"cache_misses", "uncacheable", "python_fallbacks"} <= set(
            step(warm, name)["metrics"]
        )
    assert warm.metrics["wrong_results"] == warm.metrics["graphs_raised"] == 0
    assert {entry["step"] for entry in warm.record["ledger"]} == {*HELD, REFUSED}


def test_a_cold_census_says_which_ops_no_graph_has_and_a_warm_one_does_not(
    ops: tuple[Measured, Measured],
) -> None:
    cold, warm = ops
    untried = cold.record["coverage"]["untried"]
    # Composite is there after the rewrites only; Scan's inner graph has the addition.
    for op in ("scalar.basic.Composite", "scan.op.Scan", "tensor.elemwise.Elemwise"):
        assert op not in untried
    assert untried["tensor.math.Sum"] == ["c", "jax", "numba"]
    assert untried["printing.Print"] == []
    assert untried["tensor.random.basic.NormalRV"] == ["jax", "numba"]
    assert cold.record["coverage"]["implemented"]["numba"] > 200
    assert warm.record["coverage"] is None


def test_every_op_that_numba_implements_has_a_graph_or_a_reason(
    bench: Bench, tmp_path: Path
) -> None:
    done = subprocess.run(
        [str(bench.environment.python), "-m", "benchmarks.op_coverage"],
        capture_output=True, text=True, check=False, cwd=bench.scratch,
        env={**bench.environment.variables(), "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert re.search(r"^numba: \d+ Ops, \d+ of them in no graph$", done.stdout, re.MULTILINE)


def test_only_the_graphs_of_a_list_are_absent_in_the_newest_release(bench: Bench) -> None:
    """A misspelt name raises what a name of another release raises."""
    done = subprocess.run(
        [str(bench.environment.python), "-m", "benchmarks.absent"],
        capture_output=True, text=True, env=bench.environment.variables(), cwd=bench.scratch,
        check=False,
    )  # fmt: skip
    assert done.stdout == f"{len(ABSENT) + len(NOT_OF_NUMBA)} graphs cannot be made\n", done.stderr
    assert done.returncode == 0


def test_a_refusal_has_the_reason_of_the_cache(ops: tuple[Measured, Measured]) -> None:
    _, warm = ops
    refused = [e for e in warm.record["ledger"] if e["outcome"] == "uncacheable"]
    assert len(refused) == warm.metrics["uncacheable"] > 0
    assert {entry["why"] for entry in refused} == {NO_KEY}


def test_an_op_without_c_code_is_named_as_one_that_runs_in_python(
    build: Callable[..., Any],
) -> None:
    _, warm = build("ops", "C_VM", "linalg.expm")
    assert warm.metrics["python_fallbacks"] == 1
    assert step(warm, "linalg.expm")["in_python"][0].startswith("Expm")


def test_a_property_that_a_key_leaves_out_is_a_collision_and_nothing_else_is(
    build: Callable[..., Any],
) -> None:
    _, faulty = build("keys", "NUMBA", AXIS, NAMES, fault="property_dropped:Sum.axis")
    assert (faulty.metrics["key_collisions"], faulty.metrics["key_instabilities"]) == (1, 0)
    assert step(faulty, AXIS)["status"] == "collided"
    assert step(faulty, NAMES)["status"] == "ok"


def keys_of(bench: Bench, where: Environment, *members: str) -> Measured:
    """A sample of the quick set of pairs, with some of them."""
    some = replace(bench.within(where), graphs=members)
    options = ("--model", "keys_quick", "--pass", "counting", "--launch", "spawn")
    found = some.sample("pairs_keys", "NUMBA", *options)
    assert found.record["status"] == "ok", found.record["failure"]
    return found


def compiled(found: Measured) -> list[str]:
    """The roles of the processes of a sample."""
    return [event["role"] for event in found.trace if event["event"] == "process started"]


def test_keys_that_are_as_they_should_be_are_compared_by_one_process(bench: Bench) -> None:
    found = keys_of(bench, bench.environment, AXIS, PIVOTING, NAMES)
    assert compiled(found) == ["each"]
    assert (found.metrics["key_collisions"], found.metrics["key_instabilities"]) == (0, 0)
    assert [(one["status"], one["note"]) for one in found.record["steps"]] == [("ok", None)] * 3
    assert found.metrics["cache_bytes"] == 0  # nothing was compiled


def keys_made(bench: Bench, measure: str = "counting") -> Measured:
    """A sample of what the keys of five graphs cost, which is only looked at."""
    some = replace(bench, graphs=MADE)
    found = some.taken("key_making", "NUMBA", model="key_cost", launch="spawn", measure=measure)
    assert found.record["status"] == "ok", found.record["failure"]
    assert found.metrics.get("graphs_raised", 0) == 0
    return found


def test_keys_of_ten_times_the_nodes_cost_ten_times_the_calls_and_those_of_bytes_as_many(
    bench: Bench,
) -> None:
    found = keys_made(bench)
    calls = [step(found, name)["metrics"]["key_calls"] for name in MADE]
    ten, hundred, small, large, used = calls
    assert hundred == 10 * ten > 0
    assert small == large > 0
    assert used == ten * 3 // 10  # of two graphs with three nodes, however often they are used
    assert found.metrics["key_calls"] == sum(calls)
    assert found.metrics["cache_bytes"] == 0  # nothing was compiled
    timed = keys_made(bench, "timing")
    assert all(step(timed, name)["metrics"]["key_time"] > 0 for name in MADE)
    assert "key_calls" not in timed.metrics


def test_keys_that_are_made_twice_cost_twice_the_calls(bench: Bench) -> None:
    own = keys_made(bench)
    faulty = keys_made(bench.within(with_fault(bench.environment, "keys_made_twice", bench.shelf)))
    before, after = (
        [step(one, name)["metrics"]["key_calls"] for name in MADE[:2]] for one in (own, faulty)
    )
    # The fault itself is a function, too.
    assert after == [2 * calls + nodes for calls, nodes in zip(before, (10, 100), strict=True)]


def test_a_key_without_a_property_is_suspected_and_proven(bench: Bench) -> None:
    where = with_fault(bench.environment, "property_dropped:Sum.axis", bench.shelf)
    found = keys_of(bench, where, AXIS, PIVOTING, NAMES)
    assert compiled(found) == ["each"] * 4
    assert found.metrics["key_collisions"] == 1
    assert step(found, AXIS)["status"] == "collided"
    assert found.metrics["wrong_results"] == found.metrics["graphs_raised"] == 0
