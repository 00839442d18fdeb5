"""The same results give the same bytes: in whatever order words are hashed, and when compacted."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from observatory.store.journal.compacting import tidy
from observatory.store.records import layout

pytestmark = pytest.mark.long

RESULTS = Path(__file__).parents[4] / "results"
SEEDS = ("0", "4")
"""Two hash seeds: a site of real results that followed one of them would differ."""
LATER = datetime(2027, 6, 1, tzinfo=UTC)
"""When every committed run is old enough to be compacted."""


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Every third run of the committed results: every kind of page, few of the pairs.

    With their alerts, as the first seed finds them: an alert keeps when it was first seen.
    """
    found = tmp_path / "results"
    shutil.copytree(RESULTS, found)
    for number, journal in enumerate(layout.journals(found)):
        if number % 3:
            journal.unlink()
    told(found, SEEDS[0], "alerts")
    return found


def told(results: Path, seed: str, *command: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "observatory", *command, "--results", str(results)],
        env={**os.environ, "PYTHONHASHSEED": seed}, check=True, capture_output=True,
    )  # fmt: skip


def test_alerts_and_pages_depend_neither_on_the_hash_seed_nor_on_compaction(
    tmp_path: Path, results: Path
) -> None:
    """One test of both: two builds of the same results would say no more than these two."""
    found = []
    for seed in SEEDS:
        copied, out = tmp_path / seed / "results", tmp_path / seed / "html"
        shutil.copytree(results, copied)
        if seed == SEEDS[-1]:
            assert tidy(copied, LATER).journals == len(layout.journals(results)) > 5
        if seed != SEEDS[0]:
            told(copied, seed, "alerts")
        told(copied, seed, "dashboard", "--out", str(out))
        pages = {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*.*")}
        found.append({"alerts.json": (copied / "alerts.json").read_bytes(), **pages})
    assert len(json.loads(found[0]["alerts.json"])["alerts"]) > 3
    for other in found[1:]:
        assert other.keys() == found[0].keys()
        assert [name for name in other if other[name] != found[0][name]] == []
