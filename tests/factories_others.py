"""Results of other projects with several subjects, FOR TESTS ONLY."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.factories_asv import foreign, put, row
from tests.factories_pytest_benchmark import entry, file, stats

Ends = tuple[float, float, float]
DAY = 86_400_000


def commit(number: int) -> str:
    """The hash of the commit with this number."""
    return f"{number + 0xA0:02x}" * 20


def measured(results: Path, number: int, values: dict[str, Ends | float], **changes: Any) -> str:
    """Write what asv measured of one commit; returns its hash. Intervals are of nine samples."""
    rows = {}
    for name, one in values.items():
        low, value, high = one if isinstance(one, tuple) else (None, one, None)
        repeat = None if low is None else [9]
        rows[name] = row(
            result=[value], stats_ci_99_a=[low], stats_ci_99_b=[high], stats_repeat=repeat
        )
    hash_ = commit(number)
    date = 1_700_000_000_000 + number * DAY
    put(results, foreign(rows, commit_hash=hash_, date=date) | changes, f"{hash_[:8]}-x.json")
    return hash_


def released(directory: Path, name: str, medians: dict[str, float], day: int = 1) -> Path:
    """Save what pytest-benchmark measured of an installed release, which has no commit."""
    tests = [
        entry(test, stats=stats(one, data=[one * (1 + k / 1000) for k in range(-4, 5)]))
        for test, one in medians.items()
    ]
    nothing = {"id": "unversioned", "time": None, "dirty": False}
    saved = file(*tests, commit_info=nothing, datetime=f"2026-11-{day:02}T12:00:00+00:00")
    path = directory / name
    path.write_text(json.dumps(saved))
    return path
