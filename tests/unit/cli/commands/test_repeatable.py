"""The same results give the same bytes, in whatever order a process happens to hash its words."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

RESULTS = Path(__file__).parents[4] / "results"
SEEDS = ("0", "1", "4")
"""Three hash seeds: a site of real results that followed one of them would differ between two."""


def test_alerts_and_pages_do_not_depend_on_the_hash_seed(tmp_path: Path) -> None:
    found = []
    for seed in SEEDS:
        results, out = tmp_path / seed / "results", tmp_path / seed / "html"
        shutil.copytree(RESULTS, results)
        for command in (("alerts",), ("dashboard", "--out", str(out))):
            subprocess.run(
                [sys.executable, "-m", "observatory", *command, "--results", str(results)],
                env={**os.environ, "PYTHONHASHSEED": seed}, check=True, capture_output=True,
            )  # fmt: skip
        pages = {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*.*")}
        found.append({"alerts.json": (results / "alerts.json").read_bytes(), **pages})
    for other in found[1:]:
        assert other.keys() == found[0].keys()
        assert [name for name in other if other[name] != found[0][name]] == []
