"""Siblings that share a cache, in real processes: who forks whom, and whose numbers they return."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from observatory.app import upgrade
from observatory.benchmarks.catalogue import MEMBERS, SIBLINGS, launches_of
from observatory.cli.main import app
from observatory.errors import Exit
from observatory.guard.scan.scanning import scan
from observatory.run.environments import Environment
from observatory.run.execute import Executor
from observatory.store.records.upgrades import Upgrade, load_all
from tests.integration.conftest import STATE, Bench, Measured
from tests.integration.fault_rig import CLOSURES, TWO, with_fault

pytestmark = pytest.mark.integration

ARRANGED = [(scenario, launch) for scenario in SIBLINGS for launch in launches_of(scenario)]
WHOLE = (("siblings_nested", "fork"), ("siblings_after_build", "fork"))
"""Arrangements of all four graphs: only four nest in two pairs, and the other arrangement returns
wrong numbers without the protection only if there are four; all others do so with two."""


@pytest.fixture
def two(bench: Bench) -> Bench:
    """Siblings that are as few as siblings can be."""
    return replace(bench, graphs=TWO)


@pytest.fixture
def unprotected(two: Bench) -> Bench:
    """The newest PyTensor with numba's old counter: what its protection protects from."""
    return two.within(with_fault(two.environment, "uid_counter", two.shelf))


def events(found: Measured, name: str) -> list[dict[str, Any]]:
    return [event for event in found.trace if event["event"] == name]


@pytest.mark.parametrize(("scenario", "launch"), ARRANGED)
def test_the_newest_release_is_right_in_every_arrangement(
    bench: Bench, two: Bench, scenario: str, launch: str
) -> None:
    some = bench if (scenario, launch) in WHOLE else two
    found = some.taken(scenario, "NUMBA", model=CLOSURES, launch=launch)
    assert found.record["status"] == "ok"
    assert found.metrics["wrong_results"] == 0
    names = [check["name"] for check in found.record["checks"]]
    members = list(some.graphs or MEMBERS[CLOSURES])
    assert names == [f"sibling {name}" for name in members] + members


def test_nested_siblings_fork_each_other_and_others_do_not(bench: Bench, two: Bench) -> None:
    nested = bench.taken("siblings_nested", "NUMBA", model=CLOSURES, launch="fork")
    forked = events(nested, "forked")
    grandchildren = [e for e in forked if e["parent"] in {other["pid"] for other in forked}]
    assert (len(forked), len(grandchildren)) == (4, 2)
    plain = two.taken("siblings", "NUMBA", model=CLOSURES, launch="fork")
    assert len({e["parent"] for e in events(plain, "forked")}) == 1


def test_siblings_at_once_overlap_and_siblings_in_turn_do_not(two: Bench) -> None:
    for scenario, overlap in (("siblings_at_once", True), ("siblings", False)):
        found = two.taken(scenario, "NUMBA", model=CLOSURES, launch="spawn")
        spans = [
            (start["time"], end["time"])
            for start in events(found, "process started")
            if start["role"] == "siblings"
            for end in events(found, "process ended")
            if end["child"] == start["child"]
        ]
        assert len(spans) == 2
        spans.sort()
        assert any(b < end for (_, end), (b, _) in pairwise(spans)) is overlap


def test_siblings_may_start_from_a_copy_of_a_cache(bench: Bench, two: Bench) -> None:
    """`observatory check` gives them the cache of a user."""
    cache = bench.cache("cold", "NUMBA")
    found = two.sample(
        "siblings", "NUMBA", "--pass", "counting", "--cache", str(cache),
        "--model", CLOSURES, "--launch", "spawn",
    )  # fmt: skip
    empty = two.taken("siblings", "NUMBA", model=CLOSURES, launch="spawn")
    held = sum(path.stat().st_size for path in cache.rglob("*.nb[ic]"))
    assert found.metrics["wrong_results"] == 0
    assert found.metrics["cache_bytes"] > max(held, empty.metrics["cache_bytes"])


def test_a_fork_server_imports_nothing_before_it_forks(two: Bench) -> None:
    found = two.taken("siblings", "NUMBA", model=CLOSURES, launch="forkserver")
    children = events(found, "subject imported")
    assert len({e["pid"] for e in children}) == 3  # two siblings and the reader
    (ready,) = [e for e in events(found, "interpreter ready") if e["role"] == "siblings"]
    assert "pytensor" not in ready["imported"]


@pytest.mark.parametrize("scenario", ["siblings", "siblings_nested", "siblings_at_once"])
def test_without_the_protection_forked_siblings_return_each_others_numbers(
    unprotected: Bench, scenario: str
) -> None:
    found = unprotected.taken(scenario, "NUMBA", model=CLOSURES, launch="fork")
    wrong = [check for check in found.record["checks"] if check["wrong"]]
    assert wrong or found.record["status"] != "ok"
    assert any("is what" in (check["note"] or "") for check in wrong)


def test_without_the_protection_the_scanner_finds_shared_symbols(
    unprotected: Bench, two: Bench
) -> None:
    # One graph alone has symbols that another one could have; of both, two have the same ones.
    alone = replace(unprotected, graphs=("times_2",))
    for which, shared, weak in (
        (unprotected, True, False),
        (alone, False, True),
        (two, False, False),
    ):
        report = scan(which.cache("siblings", "NUMBA", model=CLOSURES))
        assert bool(report.collided_symbols) is shared
        assert bool(report.vulnerable_symbols) is weak
        assert report.unreadable == []


def test_the_hazard_is_seen_in_the_release_that_had_it(
    bench: Bench, environment_of: Callable[..., Environment]
) -> None:
    one_name = ("double", "triple", "count", "outer")
    old = replace(bench.within(environment_of("2.36.3", python="3.11")), graphs=one_name)
    found = old.taken("siblings", "NUMBA", model="lookalikes")
    assert found.metrics["wrong_results"] > 0 or found.record["status"] != "ok"


def test_an_upgrade_on_its_own_cache_rebuilds_nothing_and_is_not_stale(
    bench: Bench, tmp_path: Path
) -> None:
    bench = replace(bench, graphs=("cholesky",))
    options = ("--model", "linalg", "--pass", "counting")
    filled = bench.sample("upgrade", "NUMBA", *options, "--keep-fresh", str(tmp_path / "own"))
    assert filled.record["status"] == "ok"
    assert "stale_results" not in filled.metrics
    used = bench.sample("upgrade", "NUMBA", *options, "--cache", str(tmp_path / "own"))
    assert [c["name"] for c in used.record["checks"]][-1:] == ["cholesky"]
    assert used.metrics["stale_results"] == 0
    assert used.metrics["cache_misses"] == 0
    assert used.metrics["wrong_results"] == 0


def test_the_command_lets_a_release_use_its_own_cache_and_records_what_became_of_it(
    newest: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two graphs of eight: g++ takes long for each of them."""
    few = ("cholesky", "qr")
    monkeypatch.setattr(upgrade, "Executor", partial(Executor, only=few))
    version = newest.versions.pytensor
    of_c = ("--model", "linalg", "--backend", "C_VM")
    places = ("--results", str(tmp_path), "--state", str(STATE))
    done = CliRunner().invoke(app, ["upgrade", version, version, *of_c, *places])
    assert done.exit_code == Exit.OK, done.output
    (record,) = load_all(tmp_path)
    assert isinstance(record, Upgrade)
    (part,) = record.parts
    assert part.built == len(few)
    assert part.reused > 0
    assert (part.rebuilt, part.again_rebuilt) == (0, 0)
    assert part.stale == part.wrong == part.again_stale == []


def test_every_chain_of_a_sampler_begins_at_the_reference(
    bench: Bench, environment_of: Callable[[str], Environment]
) -> None:
    with_pymc = bench.within(environment_of(f"{bench.environment.versions.pytensor} pymc"))
    found = with_pymc.sample("sampling_cold", "NUMBA", "--model", "radon_pymc", "--launch", "fork")
    assert found.record["status"] == "ok", found.record["failure"]
    assert [check["name"] for check in found.record["checks"]] == ["chain 0", "chain 1"]
    assert found.metrics["wrong_results"] == 0
    assert found.metrics["first_draw_time"] > 0
    plain = bench.sample("sampling_cold", "NUMBA", "--model", "radon_pymc")
    assert plain.record["status"] == "unavailable"
