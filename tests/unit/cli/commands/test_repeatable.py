"""The same results give the same bytes, in whatever order a process happens to hash its words."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from observatory.store.records import layout

pytestmark = pytest.mark.long

RESULTS = Path(__file__).parents[4] / "results"
SEEDS = ("0", "4")
"""Two hash seeds: a site of real results that followed one of them would differ."""


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Every fourth run of the committed results: every kind of page, few of the pairs."""
    found = tmp_path / "results"
    shutil.copytree(RESULTS, found)
    for number, journal in enumerate(layout.journals(found)):
        if number % 4:
            journal.unlink()
    told(found, "0", "alerts")  # an alert keeps the moment when it was first seen
    return found


def told(results: Path, seed: str, *command: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "observatory", *command, "--results", str(results)],
        env={**os.environ, "PYTHONHASHSEED": seed}, check=True, capture_output=True,
    )  # fmt: skip


def test_alerts_and_pages_do_not_depend_on_the_hash_seed(tmp_path: Path, results: Path) -> None:
    found = []
    for seed in SEEDS:
        copied, out = tmp_path / seed / "results", tmp_path / seed / "html"
        shutil.copytree(results, copied)
        told(copied, seed, "alerts")
        told(copied, seed, "dashboard", "--out", str(out))
        pages = {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*.*")}
        found.append({"alerts.json": (copied / "alerts.json").read_bytes(), **pages})
    assert len(json.loads(found[0]["alerts.json"])["alerts"]) > 3
    for other in found[1:]:
        assert other.keys() == found[0].keys()
        assert [name for name in other if other[name] != found[0][name]] == []
