"""The noise floors of one machine: what `observatory calibrate` measures and stores.

``results/calibrations/<machine>.json``, schema ``docs/schemas/calibration-1.json``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, FiniteFloat

from observatory.store.base.moments import Moment
from observatory.store.base.record import Record, RecordFiles
from observatory.store.records.layout import CALIBRATIONS, checked_machine
from observatory.store.records.machine import Machine
from observatory.store.records.sample import Count, StoredCell, Text, Word
from observatory.store.records.subject import Subject, Versions


class Floor(Record):
    """How far apart chance drives two sets of values of one subject."""

    cell: StoredCell
    metric: Word
    kind: Literal["near_exact", "noisy"]
    samples: Count
    change: Annotated[FiniteFloat, Field(ge=0)] = Field(
        description="relative. noisy: exceeded by one in a hundred comparisons of 7 against 7 "
        "interleaved processes; near_exact: of 3 against 3, or of fewer than 6 samples the "
        "range over the smallest value, divided by the root of 3"
    )
    source: Text | None = Field(None, description="what counted it: `counted_by` of the samples")


class Calibration(Record):
    """The noise floor of a machine."""

    schema_: Literal["observatory/calibration/1"] = Field(
        "observatory/calibration/1", alias="schema"
    )
    machine: Machine
    subject: Subject
    versions: Versions
    taken_at: Moment
    floors: list[Floor] = Field(max_length=10_000)

    def with_floors_of(self, older: Calibration) -> Calibration:
        """The same with the floors that only ``older`` has, if it is of this subject and CPU."""
        if not self.is_like(older):
            return self
        own = {(one.cell, one.metric) for one in self.floors}
        kept = [one for one in older.floors if (one.cell, one.metric) not in own]
        floors = sorted([*self.floors, *kept], key=lambda one: (one.cell, one.metric))
        return self.model_copy(update={"floors": floors})

    def is_like(self, older: Calibration) -> bool:
        """Whether both are of one subject in one environment, and of one CPU."""
        return (
            self.machine.cpu == older.machine.cpu
            and self.subject == older.subject
            and self.versions == older.versions
        )


def load(results: Path, machine: str) -> Calibration | None:
    """Read a machine's calibration; None if there is none.

    Raises RecordError for a broken file, and for a name that cannot be part of a path.
    """
    return FILES.load(results / CALIBRATIONS / f"{checked_machine(machine)}.json")


FILES = RecordFiles(
    Calibration,
    CALIBRATIONS,
    lambda one: checked_machine(one.machine.machine),
    "is no calibration",
    "calibrate again",
    most=16 * 2**20,
)
"""One for each machine; a newer one replaces the older one."""
save, load_all = FILES.save, FILES.load_all
