"""How fast a machine was in a night, by work that never changes: `observatory sentinel` stores it.

``results/sentinels/<machine>-<time>.json``, schema ``docs/schemas/sentinel-1.json``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Annotated, Literal

from pydantic import Field, FiniteFloat

from observatory.store.base.moments import Moment
from observatory.store.base.record import Record, RecordFiles
from observatory.store.records.layout import SENTINELS, checked_machine
from observatory.store.records.machine import Machine
from observatory.store.records.sample import Text, Word
from observatory.store.records.subject import Subject, Versions

Seconds = Annotated[FiniteFloat, Field(gt=0)]
System = Annotated[
    dict[Word, Text], Field(max_length=50, description="kernel, microcode, governor, ...")
]
Times = Annotated[
    dict[Word, list[Seconds]], Field(max_length=50, description="seconds, by piece of work")
]


class FixedWork(Record):
    """What the process prints that does the work."""

    system: System
    times: Times


class Sentinel(Record):
    """One look at a machine."""

    schema_: Literal["observatory/sentinel/1"] = Field("observatory/sentinel/1", alias="schema")
    machine: Machine
    subject: Subject = Field(description="whose kept environment does the work")
    versions: Versions
    system: System
    times: Times
    taken_at: Moment

    @property
    def medians(self) -> dict[str, float]:
        """The median of each piece, in seconds."""
        return medians(self.times)


def medians(times: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Return the median of each piece of work, in seconds."""
    return {name: median(values) for name, values in times.items() if values}


FILES = RecordFiles(
    Sentinel,
    SENTINELS,
    lambda one: f"{checked_machine(one.machine.machine)}-{one.taken_at:%Y%m%dT%H%M%SZ}",
    "is not a record of the sentinel",
    "remove it; the next night makes a new one",
)
"""One for each look; none replaces another."""
save, load_all, readable = FILES.save, FILES.load_all, FILES.readable
