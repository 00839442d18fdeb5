"""What caches do under other settings of a process: `observatory canary --settings` stores it.

``results/settings/<machine>-<subject>.json``, schema ``docs/schemas/settings-1.json``.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, FiniteFloat

from observatory.store.base.moments import Moment
from observatory.store.base.record import Record, RecordFiles
from observatory.store.records.layout import SETTINGS, checked_machine, stem
from observatory.store.records.machine import Machine
from observatory.store.records.sample import Text, Word
from observatory.store.records.subject import Subject, Versions

AND = " and "
"""Between the settings in the name of a row."""
Counts = Annotated[dict[Text, FiniteFloat], Field(max_length=1000)]


class Row(Record):
    """What came out of the samples of one row of settings."""

    name: Text = Field(description="the settings that are other than usual")
    counts: Counts = Field(
        {}, description='above 0, and should be 0: by "cache_misses of radon warm_disk"'
    )
    failures: list[Text] = Field(
        [], max_length=100, description="sentences about samples that failed"
    )
    further: Counts = Field({}, description="the other alerting counts, named alike")

    @property
    def settings(self) -> tuple[str, ...]:
        """Each setting that is other than usual."""
        return tuple(self.name.split(AND))

    @property
    def every(self) -> dict[str, float]:
        """All alerting counts."""
        return self.counts | self.further

    def above(self, usual: Row | None) -> dict[str, float]:
        """By how much counts are higher than as usual; None: here it is as usual."""
        if usual is None:
            return dict(self.counts)
        known = usual.every
        return {
            name: value - known.get(name, 0)
            for name, value in self.every.items()
            if value > known.get(name, 0)
        }

    def failed(self, usual: Row | None) -> list[str]:
        """The failures that are not there as usual."""
        return [one for one in self.failures if usual is None or one not in usual.failures]

    def beyond(self, usual: Row | None) -> tuple[str, ...]:
        """Return what is worse here than as usual, as short texts; None: here it is as usual."""
        every = self.every
        counts = (f"{every[name]:g} {name}" for name in self.above(usual))
        return (*counts, *self.failed(usual))


class Settings(Record):
    """A subject under settings that are crossed by pairs."""

    schema_: Literal["observatory/settings/1"] = Field("observatory/settings/1", alias="schema")
    machine: Machine
    subject: Subject
    versions: Versions
    taken_at: Moment
    seconds: Annotated[FiniteFloat, Field(ge=0)] = Field(description="that all rows took")
    rows: list[Row] = Field(min_length=1, max_length=1000, description="the usual settings first")

    @property
    def worse(self) -> list[tuple[Word, tuple[str, ...]]]:
        """The names of the rows with something that is not right, each with what that is."""
        usual, *others = self.rows
        found = [(usual.name, usual.beyond(None))]
        found += [(row.name, row.beyond(usual)) for row in others]
        return [(name, worse) for name, worse in found if worse]


FILES = RecordFiles(
    Settings,
    SETTINGS,
    lambda one: f"{checked_machine(one.machine.machine)}-{stem(one.subject)}",
    "is no record of other settings",
    "remove it, and cross the settings again",
)
"""One for each subject on a machine; a newer one replaces the older one."""
save, load_all = FILES.save, FILES.load_all
