"""What a measured process leaves for the primitive to read: one JSON file, complete or absent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks import trace


def write(job: dict[str, Any], report: dict[str, Any]) -> None:
    """Write the report of a job where the job says."""
    path = Path(job["report"])
    partial = path.with_suffix(f"{path.suffix}.partial")
    partial.write_text(json.dumps(report))
    partial.rename(path)
    trace.event("reported", role=job["role"])


def read(path: Path) -> dict[str, Any] | None:
    """What a process reported; None if it did not get that far."""
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return report if isinstance(report, dict) else None
