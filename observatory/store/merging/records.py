"""Uniting calibrations, upgrades and contracts: of each the record that was taken last stays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from observatory.store.base.problems import Problem, RecordError
from observatory.store.base.record import RecordFiles
from observatory.store.records import calibration, contracts, upgrades

_KINDS: tuple[tuple[RecordFiles[Any], str], ...] = (
    (calibration.FILES, "taken_at"),
    (upgrades.FILES, "taken_at"),
    (contracts.FILES, "started_at"),
)
"""Each kind of record, and the field that says when one was taken."""


def unite_records(into: Path, parts: Sequence[Path], problems: list[Problem]) -> int:
    """Copy records of ``parts`` that were taken later than those of ``into``.

    Returns the number of files that were written. A broken file of a part is added to ``problems``
    and left out. A file of ``into`` that cannot be read stays: a newer version may have written it.
    Raises OSError.
    """
    return sum(_unite(*kind, into, parts, problems) for kind in _KINDS)


def _unite(
    files: RecordFiles[Any], moment: str, into: Path, parts: Sequence[Path], problems: list[Problem]
) -> int:
    there = {
        files.path_of(into, one): one
        for one in files.load_all(into)
        if not isinstance(one, RecordError)
    }
    last = dict(there)
    for part in parts:
        for one in files.load_all(part):
            if isinstance(one, RecordError):
                problems.append(Problem(part, str(one)))
                continue
            path = files.path_of(into, one)
            if path not in last or _order(one, moment) > _order(last[path], moment):
                last[path] = one
    changed = 0
    for path, one in last.items():
        if one is there.get(path):
            continue
        if path.exists() and path not in there:
            problems.append(Problem(path, "it cannot be read and stays as it is"))
            continue
        files.save(into, one)
        changed += 1
    return changed


def _order(one: Any, moment: str) -> tuple[Any, str]:
    return getattr(one, moment), one.model_dump_json()
