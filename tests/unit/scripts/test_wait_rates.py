"""Waits repeat: false alarms, and longer waits that are found, on a pool that was kept."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from scripts.accuracy.wait_rates import MACHINES, SIDES, kept_pool, rates_of, table

ROOT = Path(__file__).parents[3]
POOL = ROOT / "results/pools/xeon-2core-3.3.8-waits.parquet"


def test_the_rates_of_the_documentation_are_those_of_the_pool() -> None:
    found = rates_of(kept_pool([str(POOL)]))
    assert {one.machine for one in found} == set(MACHINES)
    documented = (ROOT / "docs/sample.md").read_text().splitlines()
    assert [line for line in table(found).splitlines() if line not in documented] == []


def test_a_busy_cpu_gives_no_alarm_and_hides_no_longer_wait() -> None:
    for one in rates_of(kept_pool([str(POOL)])):
        if one.machine != "disk":
            assert one.alarms == dict.fromkeys(SIDES, 0)
            assert one.found == dict.fromkeys(SIDES, 1.0)


def test_waits_that_come_and_go_are_seldom_an_alarm() -> None:
    """A pool in which half of all builds wait for a disk."""
    place = {"model": "radon", "scenario": "warm_disk", "backend": "NUMBA", "launch": "spawn"}
    samples = pd.DataFrame([place | {"machine": "disk", "value": v} for v in (0.0, 0.4) * 20])
    (rates,) = rates_of(samples)
    assert 0 < rates.alarms[5] < 10
    assert rates.alarms[10] == 0
    assert rates.longest == 0.4


def test_a_pool_is_of_machines_that_have_a_name(tmp_path: Path) -> None:
    line = {
        "model": "radon", "scenario": "warm_disk", "backend": "NUMBA", "launch": "spawn",
        "metric": "waiting_time", "value": 0.004, "status": "ok", "hash_seed": 1, "load": 7.0,
        "started_at": "2026-11-30T22:00:00+00:00", "source": None, "pytensor": "3.3.8",
        "numba": "0.68.0", "python": "3.13.0", "cpu": "a CPU",
    }  # fmt: skip
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(line) + "\n")
    pool = kept_pool([f"busy={path}"])
    assert pool[["machine", "value"]].values.tolist() == [["busy", 0.004]]
    with pytest.raises(SystemExit, match="'loud' is none of idle, busy, disk"):
        kept_pool([f"loud={path}"])
