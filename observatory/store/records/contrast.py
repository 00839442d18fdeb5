"""Two subjects of a project that measures with asv or pytest-benchmark, as a file.

`observatory compare DIR:BASE DIR:HEAD --json` writes it where DIR has no samples of the observatory
(docs/schemas/contrast-1.json).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, FiniteFloat, StringConstraints

from observatory.store.base.moments import Moment
from observatory.store.base.record import Record
from observatory.store.records.comparison import Conclusion

By = Literal["levels", "one run", "nothing", "no ratio"]
"""What a conclusion rests on: the levels of a history, the rounds of one run a side, or nothing.

`no ratio`: nothing, because a value is 0 or below, or because values lie too far apart.
"""
_Text = Annotated[str, StringConstraints(max_length=2_000)]


class Side(Record):
    """A subject in these results."""

    label: _Text
    commit: _Text
    date: Moment


class Measured(Record):
    """One saved value, in the unit of its series."""

    value: FiniteFloat
    n: int = Field(ge=1, description="rounds, or samples, that it is the median of")
    low: FiniteFloat | None = Field(description="of asv's 99 % interval; null: fewer than 5 rounds")
    high: FiniteFloat | None


class Contrast(Record):
    """What one series says of HEAD against BASE."""

    benchmark: _Text
    metric: _Text = Field(description="asv's type of the benchmark: time, peakmem, track, ...")
    unit: _Text
    base: Measured | None = Field(description="null: it was not measured")
    head: Measured | None
    before: FiniteFloat | None = Field(description="what is compared: a level, or the value")
    after: FiniteFloat | None
    conclusion: Conclusion
    by: By = Field(
        description="levels: from the history, which raises an alarm. one run: from the rounds of "
        "one run on each side, which cannot show how much the next one differs: no alarm"
    )

    @property
    def size(self) -> float:
        """The larger side over the smaller; 0 where there is no ratio."""
        if self.before is None or self.after is None or min(self.before, self.after) <= 0:
            return 0.0
        return max(self.before, self.after) / min(self.before, self.after)


class Line(Record):
    """Everything that one machine measured of both sides in one environment."""

    machine: _Text
    environment: _Text
    system: _Text = Field(description="processor, operating system and Python")
    base: Side
    head: Side
    series: list[Contrast]


class Contrasts(Record):
    """What BASE and HEAD differ in, on every machine and environment that measured both."""

    schema_: Literal["observatory/contrast/1"] = Field("observatory/contrast/1", alias="schema")
    observatory: _Text
    lines: list[Line] = Field(min_length=1)

    @property
    def every(self) -> list[Contrast]:
        """The series of all lines."""
        return [one for line in self.lines for one in line.series]
