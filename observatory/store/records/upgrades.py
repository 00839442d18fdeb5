"""What a subject made of the cache that another one left: `observatory upgrade` stores it.

``results/upgrades/<subject>--<subject>.json``, schema ``docs/schemas/upgrade-1.json``.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Literal

from pydantic import Field

from observatory.store.base.moments import Moment
from observatory.store.base.record import Record, RecordFiles
from observatory.store.records.layout import UPGRADES, checked_machine, stem
from observatory.store.records.machine import Machine
from observatory.store.records.sample import Count, Text, Word
from observatory.store.records.subject import Subject, Versions

_MOST_PARTS = 100


class Side(Record):
    """One of the two subjects."""

    subject: Subject
    versions: Versions
    flags: Text | None = Field(None, description="further PYTENSOR_FLAGS")
    cpu: Word | None = Field(None, description="the CPU that code is made for; null: the machine's")

    @property
    def label(self) -> str:
        """The subject as people name it, with its flags."""
        return " ".join(filter(None, (self.subject.label, self.flags, self.cpu)))


class Part(Record):
    """One model with one backend: head on the cache that base has filled."""

    model: Word
    backend: Word
    built: Count = Field(0, description="graphs that head built on base's cache")
    unsupported: list[Word] = Field([], description="graphs that head cannot build at all")
    stale: list[Word] = Field([], description="graphs with another value than from an empty cache")
    wrong: list[Word] = Field([], description="graphs off the reference, on base's cache")
    fresh_wrong: list[Word] = Field([], description="graphs off the reference from an empty cache")
    base_wrong: list[Word] = Field([], description="the same for base, which filled the cache")
    reused: Count = Field(0, description="functions that head took from base's cache")
    rebuilt: Count = Field(0, description="functions that head compiled all the same")
    again_rebuilt: Count | None = Field(
        None, description="functions that base, back again, found no longer; null: not measured"
    )
    again_stale: list[Word] = Field([], description="as `stale`, for base when it is back")
    failure: Text | None = Field(None, description="why there is nothing, or not all")

    @property
    def wrong_by_cache(self) -> list[str]:
        """The graphs off the reference on base's cache, and right from an empty one."""
        return sorted({*self.wrong} - {*self.fresh_wrong})

    @property
    def changed(self) -> list[str]:
        """The graphs whose values base's cache changes."""
        return sorted({*self.wrong_by_cache, *self.stale})


class Upgrade(Record):
    """One subject after another on one cache."""

    schema_: Literal["observatory/upgrade/1"] = Field("observatory/upgrade/1", alias="schema")
    base: Side = Field(description="who filled the cache")
    head: Side = Field(description="who then used it")
    machine: Machine
    taken_at: Moment
    parts: list[Part] = Field(max_length=_MOST_PARTS)

    @property
    def labels(self) -> tuple[str, str]:
        """What base and head are called; with their Pythons where nothing else tells them apart."""
        base, head = self.base, self.head
        if base.label != head.label or base.versions.python == head.versions.python:
            return base.label, head.label
        return (
            f"{base.label} on Python {base.versions.python}",
            f"{head.label} on Python {head.versions.python}",
        )


def _name(side: Side) -> str:
    name = stem(side.subject)
    if side.flags is not None:
        name += f"-{hashlib.sha256(side.flags.encode()).hexdigest()[:8]}"
    return f"{name}-{checked_machine(side.cpu)}" if side.cpu else name


FILES = RecordFiles(
    Upgrade,
    UPGRADES,
    lambda one: f"{_name(one.base)}--{_name(one.head)}",
    "is no upgrade",
    "run `observatory upgrade` again",
)
"""One for each pair of subjects; a newer one replaces the older one."""
path_of, load_all = FILES.path_of, FILES.load_all


def save(results: Path, made: Upgrade) -> Path:
    """Write a record in place of an older one, of which parts that were not measured again stay.

    They stay if both were measured with the same versions on the same processor. Raises RecordError
    and OSError.
    """
    before = FILES.load(path_of(results, made))
    if before is not None and _what(before) == _what(made):
        measured = {(one.model, one.backend) for one in made.parts}
        kept = [one for one in before.parts if (one.model, one.backend) not in measured]
        made = made.model_copy(update={"parts": [*made.parts, *kept][:_MOST_PARTS]})
    return FILES.save(results, made)


def _what(one: Upgrade) -> tuple[object, ...]:
    return one.base.versions, one.head.versions, one.machine.cpu
