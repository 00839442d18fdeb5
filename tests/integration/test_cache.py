"""`observatory cache` on a cache that PyTensor filled."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.command import observatory
from tests.integration.conftest import Bench

pytestmark = pytest.mark.integration


def test_a_filled_cache_is_usable_and_loses_nothing_that_is_needed(
    bench: Bench, tmp_path: Path
) -> None:
    """What --delete leaves still hits: only the function whose file was cut is compiled again."""
    kept = tmp_path / "kept"
    shutil.copytree(bench.cache("cold", "NUMBA"), kept, symlinks=True)
    asked = (kept / "pytensor", "--python", str(bench.environment.python))
    report = json.loads(observatory("cache", *asked, "--json").stdout)
    assert {group["state"] for group in report["groups"]} <= {"usable", "new"}
    functions = sum(
        group["entries"] for group in report["groups"] if group["origin"]["kind"] == "numba"
    )
    assert functions == bench.taken("cold", "NUMBA").metrics["cache_misses"]
    cut = max(kept.rglob("*.nbc"), key=lambda path: path.stat().st_size)
    cut.write_bytes(cut.read_bytes()[:1000])
    done = observatory("cache", *asked, "--delete")
    assert "1 broken" in done.stdout
    assert not cut.exists()
    warm = bench.sample("warm_disk", "NUMBA", "--pass", "counting", "--cache", str(kept))
    assert warm.metrics["cache_misses"] == 1
