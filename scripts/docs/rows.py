"""Rows of the documentation's tables: a line of JSON each, with when and where it was measured."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from pydantic import AwareDatetime, Field, ValidationError

from observatory.store.base.record import Record
from observatory.store.records.layout import TABLES
from observatory.store.records.machine import Machine, this_machine
from observatory.text.words import listed

KEPT = Path(__file__).parents[2] / "results" / TABLES


class Taken(Record):
    """When and where something was measured."""

    at: AwareDatetime = Field(description="when it ended")
    cpu: str
    cpus: int = Field(ge=1, description="processors of the machine")
    load: float | None = Field(None, ge=0, description="average of the last minute")


class Row(Record):
    """A row of a table. Each table has a class of its own, which names what was measured."""

    taken: Taken


RowT = TypeVar("RowT", bound=Row)


@lru_cache(maxsize=1)
def _machine() -> Machine:
    return this_machine("here")


def now() -> Taken:
    """The present moment, on this machine."""
    load = round(os.getloadavg()[0], 1)
    one = _machine()
    return Taken(at=datetime.now(UTC), cpu=one.cpu, cpus=int(one.num_cpu), load=load)


def add_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the file of the rows; `keep` writes to it."""
    parser.add_argument(
        "--json", type=Path, metavar="FILE",
        help="append the rows to this file, as results/tables/ keeps them",
    )  # fmt: skip


def keep(path: Path | None, row: Row) -> None:
    """Append a row to a file; without a file, forget it. Raises OSError."""
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(row.model_dump_json() + "\n")


def read(kind: type[RowT], table: str, kept: Path = KEPT) -> list[RowT]:
    """The committed rows of a table, in their order; none if it was not measured yet.

    Raises ValueError, which names the line, for one that is no such row.
    """
    path = kept / f"{table}.jsonl"
    if not path.exists():
        return []
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            rows.append(kind.model_validate_json(line))
        except ValidationError as error:
            raise ValueError(f"line {number} of {path} is no row of {table!r}: {error}") from error
    return rows


def blocks(yielded: Callable[[Sequence[RowT]], Iterator[str]], rows: Sequence[RowT]) -> str:
    """The blocks of a table and of what is said of it, as one text; empty without rows."""
    return "\n\n".join(yielded(rows)) if rows else ""


def measured(rows: Iterable[Row]) -> str:
    """A sentence that says when and where rows were measured."""
    facts = sorted((row.taken for row in rows), key=lambda one: one.at)
    days = list(dict.fromkeys(f"{one.at:%-d %B %Y}" for one in facts))
    when = f"on {days[0]}" if len(days) == 1 else f"from {days[0]} to {days[-1]}"
    machines = dict.fromkeys(f"{one.cpus} CPUs ({one.cpu})" for one in facts)
    loads = [one.load for one in facts if one.load is not None]
    under = ""
    if loads:
        low, high = round(min(loads)), round(max(loads))
        under = f", under a load of {low}" + (f" to {high}" if high > low else "")
        under += "; the load of some rows is not known" if len(loads) < len(facts) else ""
    return f"Measured {when} on {listed([*machines])}{under}."
