"""Files of pytest-benchmark, FOR TESTS ONLY."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def stats(median: float = 2.0, **changes: Any) -> dict[str, Any]:
    """The statistics of 9 rounds, without the rounds."""
    fields = {
        "min": median / 2, "max": median * 2, "mean": median, "stddev": 0.1, "rounds": 9,
        "median": median, "iqr": 0.2, "q1": median - 0.1, "q3": median + 0.1, "iterations": 5,
        "outliers": "1;0", "ops": 1 / median, "total": median * 9,
    }  # fmt: skip
    return fields | changes


def entry(fullname: str, *, median: float = 2.0, **changes: Any) -> dict[str, Any]:
    """One entry of `benchmarks`."""
    fields = {
        "group": None, "name": fullname.rpartition("::")[2], "fullname": fullname, "param": None,
        "params": None, "extra_info": {}, "options": {}, "stats": stats(median),
    }  # fmt: skip
    return fields | changes


def cases(node: str, *params: dict[str, Any]) -> list[dict[str, Any]]:
    """The entries of a test with parameters; their medians are 1, 2, ..."""
    ids = ["-".join(map(str, one.values())) for one in params]
    return [
        entry(f"{node}[{id_}]", median=number, param=id_, params=one)
        for number, (id_, one) in enumerate(zip(ids, params, strict=True), 1)
    ]


def file(*benchmarks: Any, **changes: Any) -> dict[str, Any]:
    """A whole file; ``changes`` replace its top-level keys."""
    fields = {
        "machine_info": {
            "node": "ci", "processor": "x86_64", "machine": "x86_64", "system": "Linux",
            "python_compiler": "GCC", "python_implementation": "CPython", "release": "6.8",
            "python_implementation_version": "3.12.1", "python_version": "3.12.1",
            "python_build": ["main", "x"], "cpu": {"brand_raw": "Some CPU", "count": 2},
        },
        "commit_info": {
            "id": COMMIT, "time": "2026-08-14T10:00:00+02:00", "author_time": None,
            "dirty": False, "project": "p", "branch": "main",
        },
        "benchmarks": list(benchmarks),
        "datetime": "2026-11-20T12:00:00.123456+00:00",
        "version": "5.3.1",
    }  # fmt: skip
    return fields | changes


def saved(directory: Path, content: Any, name: str = "saved.json") -> Path:
    """Write a file."""
    path = directory / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path
