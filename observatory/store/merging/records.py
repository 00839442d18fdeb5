"""Uniting calibrations, upgrades and contracts: of each the record that was taken last stays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from observatory.store.base.problems import Problem, RecordError
from observatory.store.records import calibration, contracts, upgrades


@dataclass(frozen=True)
class _Kind:
    """One kind of record: where it is, and when it was taken."""

    load_all: Callable[[Path], Iterator[Any]]
    path_of: Callable[[Path, Any], Path]
    save: Callable[[Path, Any], Path]
    taken_at: Callable[[Any], datetime]


_KINDS = (
    _Kind(
        calibration.load_all,
        lambda results, one: calibration.path_of(results, one.machine.machine),
        calibration.save,
        lambda one: one.taken_at,
    ),
    _Kind(upgrades.load_all, upgrades.path_of, upgrades.save, lambda one: one.taken_at),
    _Kind(contracts.load_all, contracts.path_of, contracts.save, lambda one: one.started_at),
)


def unite_records(into: Path, parts: Sequence[Path], problems: list[Problem]) -> int:
    """Copy records of ``parts`` that were taken later than those of ``into``.

    Returns the number of files that were written. A broken file of a part is added to ``problems``
    and left out. A file of ``into`` that cannot be read stays: a newer version may have written it.
    Raises OSError.
    """
    return sum(_unite(kind, into, parts, problems) for kind in _KINDS)


def _unite(kind: _Kind, into: Path, parts: Sequence[Path], problems: list[Problem]) -> int:
    there: dict[Path, BaseModel] = {}
    for one in kind.load_all(into):
        if not isinstance(one, RecordError):
            there[kind.path_of(into, one)] = one
    last = dict(there)
    for part in parts:
        for one in kind.load_all(part):
            if isinstance(one, RecordError):
                problems.append(Problem(part, str(one)))
                continue
            try:
                path = kind.path_of(into, one)
            except RecordError as error:
                problems.append(Problem(part, str(error)))
                continue
            if path not in last or _order(kind, one) > _order(kind, last[path]):
                last[path] = one
    changed = 0
    for path, one in last.items():
        if one is there.get(path):
            continue
        if path.exists() and path not in there:
            problems.append(Problem(path, "it cannot be read and stays as it is"))
            continue
        kind.save(into, one)
        changed += 1
    return changed


def _order(kind: _Kind, one: BaseModel) -> tuple[datetime, str]:
    return kind.taken_at(one), one.model_dump_json()
