"""What chance alone does on one machine: what `observatory calibrate` measures and stores.

``results/calibrations/<machine>.json``, schema ``docs/schemas/calibration-1.json``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field, FiniteFloat

from observatory.store.base.files import read_bounded
from observatory.store.base.problems import RecordError
from observatory.store.base.record import Record, each_record, parse_record, save_record
from observatory.store.records.layout import CALIBRATIONS, checked_machine
from observatory.store.records.machine import Machine
from observatory.store.records.sample import Count, StoredCell, Word
from observatory.store.records.subject import Subject, Versions

LARGEST_FILE = 16 * 2**20


class Floor(Record):
    """How far apart chance drives two sets of values of one subject."""

    cell: StoredCell
    metric: Word
    kind: Literal["near_exact", "noisy"]
    samples: Count
    change: Annotated[FiniteFloat, Field(ge=0)] = Field(
        description="relative. noisy: exceeded by one in a hundred comparisons of 7 against 7 "
        "interleaved processes; near_exact: largest over smallest value, less 1"
    )


class Calibration(Record):
    """The noise floor of a machine."""

    schema_: Literal["observatory/calibration/1"] = Field(
        "observatory/calibration/1", alias="schema"
    )
    machine: Machine
    subject: Subject
    versions: Versions
    taken_at: AwareDatetime
    floors: list[Floor] = Field(max_length=10_000)


def path_of(results: Path, machine: str) -> Path:
    """The path of a machine's calibration, whether or not there is one.

    Raises RecordError for a name that cannot be part of a path.
    """
    return results / CALIBRATIONS / f"{checked_machine(machine)}.json"


def save(results: Path, calibration: Calibration) -> Path:
    """Write a calibration in place of the machine's older one; return its path. Raises OSError."""
    return save_record(path_of(results, calibration.machine.machine), calibration)


def load(results: Path, machine: str) -> Calibration | None:
    """Read the calibration of a machine; None if there is none.

    Raises RecordError for a broken file.
    """
    return _load(path_of(results, machine))


def load_all(results: Path) -> Iterator[Calibration | RecordError]:
    """Read every calibration of a results directory, in the order of the machines' names.

    For a broken file its RecordError is yielded, not raised.
    """
    return each_record(sorted((results / CALIBRATIONS).glob("*.json")), _load)


def _load(path: Path) -> Calibration | None:
    content = read_bounded(path, LARGEST_FILE, "calibrate again")
    return (
        None if content is None else parse_record(Calibration, content, f"{path} is no calibration")
    )
