"""What a subject made of the cache that another one left: `observatory upgrade` stores it.

``results/upgrades/<subject>--<subject>.json``, schema ``docs/schemas/upgrade-1.json``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import AwareDatetime, Field

from observatory.store.base.files import read_bounded
from observatory.store.base.problems import RecordError
from observatory.store.base.record import Record, each_record, parse_record, save_record
from observatory.store.records.layout import UPGRADES, stem
from observatory.store.records.machine import Machine
from observatory.store.records.sample import Count, Text, Word
from observatory.store.records.subject import Subject, Versions

LARGEST_FILE = 4 * 2**20


class Side(Record):
    """One of the two subjects."""

    subject: Subject
    versions: Versions
    flags: Text | None = Field(None, description="further PYTENSOR_FLAGS")

    @property
    def label(self) -> str:
        """The subject as people name it, with its flags."""
        return f"{self.subject.label} {self.flags}" if self.flags else self.subject.label


class Part(Record):
    """One model with one backend: head on the cache that base has filled."""

    model: Word
    backend: Word
    built: Count = Field(0, description="graphs that head built on base's cache")
    unsupported: list[Word] = Field([], description="graphs that head cannot build at all")
    stale: list[Word] = Field(
        [], description="graphs whose value is not the one that head gives from an empty cache"
    )
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


class Upgrade(Record):
    """One subject after another on one cache."""

    schema_: Literal["observatory/upgrade/1"] = Field("observatory/upgrade/1", alias="schema")
    base: Side = Field(description="who filled the cache")
    head: Side = Field(description="who then used it")
    machine: Machine
    taken_at: AwareDatetime
    parts: list[Part] = Field(max_length=100)

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


def path_of(results: Path, upgrade: Upgrade) -> Path:
    """The path of the record of an upgrade, whether or not it is there."""
    return results / UPGRADES / f"{_name(upgrade.base)}--{_name(upgrade.head)}.json"


def save(results: Path, upgrade: Upgrade) -> Path:
    """Write an upgrade in place of an older one of the same subjects; return its path.

    Raises OSError.
    """
    return save_record(path_of(results, upgrade), upgrade)


def load_all(results: Path) -> Iterator[Upgrade | RecordError]:
    """Read every upgrade of a results directory, in the order of the file names.

    For a broken file its RecordError is yielded, not raised.
    """
    return each_record(sorted((results / UPGRADES).glob("*.json")), _load)


def _load(path: Path) -> Upgrade:
    content = read_bounded(path, LARGEST_FILE, "run `observatory upgrade` again")
    return parse_record(Upgrade, content or b"", f"{path} is no upgrade")


def _name(side: Side) -> str:
    if side.flags is None:
        return stem(side.subject)
    return f"{stem(side.subject)}-{hashlib.sha256(side.flags.encode()).hexdigest()[:8]}"
