"""Which axis of two subjects changed a value: what `observatory cross` found.

``results/crossings/<ends>-<cell and metric>.json``, schema ``docs/schemas/crossing-1.json``. The
measured values are samples in journals, as of any run.
"""

from __future__ import annotations

import hashlib
from typing import Literal, Self

from pydantic import Field, FiniteFloat, model_validator

from observatory.store.base.moments import Moment
from observatory.store.base.record import Record, RecordFiles
from observatory.store.records.alerts import At, Change
from observatory.store.records.layout import CROSSINGS
from observatory.store.records.sample import Count, StoredCell, Text, Word


class CrossedAxis(Record):
    """What differs between the two subjects and is exchanged as one."""

    name: Word = Field(description='"PyTensor", "Python", a package, or "other packages"')
    versions: dict[Word, tuple[Word, Word]] = Field(
        description="the old and the new version of all that moves with it"
    )
    needed: bool | None = Field(
        None,
        description="whether the new value is gone if this axis alone is old; null: not known",
    )


class Combined(Record):
    """A combination of old and new axes, and its value."""

    new: list[Word] = Field(max_length=100, description="the axes that are new")
    value: FiniteFloat | None = Field(description="null: it cannot be measured")
    why: Text = Field("", description="why it cannot")
    measured: bool = Field(True, description="false: the value was recorded already")


class CrossedCause(Record):
    """The smallest combination that gives the new value."""

    axes: list[Word] = Field(max_length=100)
    untried: list[list[Word]] = Field(
        [], max_length=1000, description="parts of it that cannot be measured"
    )


class CrossedStep(Record):
    """Neighbouring releases of a package between which the value changes."""

    before: Word
    after: Word
    low: FiniteFloat
    high: FiniteFloat
    skipped: list[Word] = Field([], max_length=1000, description="in between, not measurable")


class CrossedRelease(Record):
    """A release of a package whose value is known."""

    version: Word
    value: FiniteFloat | None = Field(description="null: it cannot be measured")


class Along(Record):
    """The search along the releases of a package that made the change."""

    package: Word
    releases: Count = Field(description="from the old to the new one, both included")
    values: list[CrossedRelease] = Field(max_length=1000)
    steps: list[CrossedStep] = Field([], max_length=1000)
    samples: Count = Field(0, description="samples that were taken for it")


class UnderCondition(Record):
    """The values of both ends where one setting is other than usual."""

    name: Word = Field(description="a variable, a flag, a start method, or a place of HOME")
    high: FiniteFloat | None = Field(description="the value of `bad`; null: it has none so")
    low: FiniteFloat | None = Field(
        description="the value of `good`; null: not measured, because `bad` has its usual value"
    )


class Crossed(Record):
    """The search for the axes that made a change between two subjects."""

    schema_: Literal["observatory/crossing/1"] = Field("observatory/crossing/1", alias="schema")
    observatory: Word
    machine: Word
    cell: StoredCell
    metric: Word
    graphs: list[Word] = Field(
        [], max_length=5000, description="the only graphs that were built; empty: all of the model"
    )
    good: At = Field(description="all axes are old")
    bad: At = Field(description="all axes are new")
    low: FiniteFloat | None = Field(None, description="the value of `good`; null: it has none yet")
    high: FiniteFloat | None = Field(None, description="the value of `bad`")
    axes: list[CrossedAxis] = Field([], max_length=100, description="the likeliest first")
    combinations: list[Combined] = Field([], max_length=5000, description="as they were tried")
    causes: list[CrossedCause] = Field(
        [], max_length=1000, description="several: each gives the new value without the others"
    )
    along: list[Along] = Field([], max_length=100)
    conditions: list[UnderCondition] = Field(
        [], max_length=100, description="whether the change depends on what surrounds the process"
    )
    samples: Count = Field(0, description="samples that were taken for the axes")
    full_product: Count = Field(
        0, description="samples that every combination of the axes would have taken"
    )
    seconds: FiniteFloat = Field(0.0, ge=0, description="that it took")
    finished: bool = Field(True, description="false: its time was over")
    taken_at: Moment

    @model_validator(mode="after")
    def _causes_are_of_axes(self) -> Self:
        if not {name for one in self.causes for name in one.axes} <= {
            one.name for one in self.axes
        }:
            raise ValueError("a cause names an axis that is not among the axes")
        return self

    def is_of(self, change: Change) -> bool:
        """Whether it looked for what made this change."""
        places = {(one.benchmark, one.metric) for one in change.series}
        return change.ends == self.ends and (str(self.cell), self.metric) in places

    @property
    def ends(self) -> tuple[str, str]:
        """The commits of the two subjects."""
        return self.good.commit, self.bad.commit


def _name(one: Crossed) -> str:
    what = "\0".join(
        (str(one.cell), one.metric, one.machine, one.good.label, one.bad.label)
    )  # fmt: skip
    digest = hashlib.sha256(what.encode()).hexdigest()
    return f"{one.good.commit[:10]}-{one.bad.commit[:10]}-{digest[:10]}"


FILES = RecordFiles(
    Crossed, CROSSINGS, _name, "is no crossing", "run `observatory cross` again; values are kept"
)
"""One for each pair of subjects, cell and metric; a newer one replaces the older one."""
save, load_all, readable = FILES.save, FILES.load_all, FILES.readable
