"""The pass `work` on real PyTensor: instructions repeat, whatever else the machine does."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from observatory.benchmarks import pinning
from observatory.benchmarks.catalogue import Cell
from tests.integration.conftest import Bench, Shelf

pytestmark = pytest.mark.integration


@pytest.fixture(autouse=True)
def counter() -> None:
    """Instructions need a hardware counter or valgrind; continuous integration has one."""
    if pinning.find().counter is None and not os.environ.get("CI"):
        pytest.skip(pinning.find().problem)


@pytest.fixture
def filled(bench: Bench, shelf: Shelf) -> Path:
    """The record of this pass's cold sample, and the cache that it leaves."""

    def take(where: Path) -> None:
        options = ("--pass", "work", "--launch", "spawn", "--keep-cache", str(where / "cache"))
        found = bench.sample("cold", "C", *options)
        (where / "record.json").write_text(json.dumps(found.record))

    return shelf.made("work-cold-C", take)


def test_the_same_calls_execute_the_same_instructions(bench: Bench, filled: Path) -> None:
    options = ("--pass", "work", "--cache", str(filled / "cache"))
    first, second = (bench.sample("call", "C", *options) for _ in range(2))
    counts = [found.metrics["instructions"] for found in (first, second)]
    assert max(counts) < min(counts) * 1.001
    # Whether lookups are left out depends on the Python of the environment.
    cell, source = Cell("radon", "call", "C", "spawn"), pinning.find().source
    assert first.record["counted_by"] in {
        cell.counted_by(source, steady=steady) for steady in (False, True)
    }
    assert first.record["hash_seed"] == pinning.SEED
    assert first.metrics["wrong_results"] == first.metrics["crashed"] == 0


def test_a_source_that_cannot_count_a_cold_build_says_so(filled: Path) -> None:
    record = json.loads((filled / "record.json").read_text())
    assert record["status"] == "ok"
    if pinning.find().counter.source == "callgrind":
        assert "empty cache" in record["absent"]["instructions"]
    else:
        assert record["metrics"]["instructions"] > 0


def test_a_machine_that_cannot_count_is_no_failure(bench: Bench, filled: Path) -> None:
    """No program of this PATH counts; a hardware counter would."""
    if pinning.find().counter.source == "hardware":
        pytest.skip("this machine counts in hardware")
    options = ("--pass", "work", "--cache", str(filled / "cache"))
    found = bench.sample("call", "C", *options, env={"PATH": str(bench.scratch)})
    assert found.record["status"] == "unavailable"
    assert "apt install valgrind" in found.record["failure"]["message"]
