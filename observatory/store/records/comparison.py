"""A comparison of two subjects as a file: what `observatory compare --json` writes.

These models are the published schema ``docs/schemas/comparison-1.json``. Whatever shows a
comparison (terminal, comment, page) reads nothing else, so that a file from a run elsewhere says
what that run saw. Such a file may come from strangers: every text and list is bounded.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, FiniteFloat, StringConstraints

from observatory.benchmarks.catalogue import Kind
from observatory.store.base.moments import Moment
from observatory.store.base.record import Record
from observatory.store.records.machine import Machine
from observatory.store.records.sample import Count, StoredCell, Text, Word
from observatory.store.records.subject import Subject, Versions

Conclusion = Literal["worse", "better", "unaffected", "workload changed", "undecided"]
"""What a verdict says of HEAD against BASE.

worse, better: an alarm, and its opposite, for metrics that can alarm. unaffected: equal (exact), no
further apart than values of one subject (near exact), or the interval of the ratio is within the
minimum effect (noisy). workload changed: a descriptive count differs. undecided: see `reason`.
"""
CALM: tuple[Conclusion, ...] = ("unaffected", "workload changed")
"""The conclusions after which nobody needs to look."""

CauseKind = Annotated[str, StringConstraints(max_length=80, pattern=r"^[A-Za-z][A-Za-z ]*$")]
"""A cause of the catalogue, or one that only a later version knows."""


class Side(Record):
    """BASE or HEAD: what was measured, and on what."""

    subject: Subject
    versions: Versions
    machine: Machine


class Values(Record):
    """The values of one side, one for each process, in the order taken and the metric's unit."""

    values: list[FiniteFloat] = Field(max_length=1000)
    failed: Count = Field(0, description="samples that gave no value")

    @property
    def n(self) -> int:
        """The number of processes that gave a value."""
        return len(self.values)


class Ratio(Record):
    """HEAD over BASE.

    noisy: Hodges and Lehmann's estimate, with a bootstrap interval; near exact: the ratio of the
    medians.
    """

    estimate: FiniteFloat = Field(gt=0)
    low: FiniteFloat = Field(ge=0)
    high: FiniteFloat = Field(ge=0)
    confidence: Annotated[FiniteFloat, Field(gt=0, lt=1)] | None = Field(
        description="of the interval, e.g. 0.95; None: low and high are the range of all values"
    )


class Verdict(Record):
    """What the comparison concludes for one cell and metric, with its evidence."""

    cell: StoredCell
    metric: Word = Field(description="of the vocabulary, or `reuse_lost`")
    unit: Word
    kind: Kind
    conclusion: Conclusion
    base: Values
    head: Values
    ratio: Ratio | None = Field(None, description="noisy and near_exact, where both sides have any")
    p_value: FiniteFloat | None = Field(None, ge=0, le=1, description="test on ranks")
    q_value: FiniteFloat | None = Field(None, ge=0, le=1, description="p_value adjusted over cells")
    minimum_effect: FiniteFloat | None = Field(
        None, ge=0, description="relative change below which nothing is called worse: 0.05 is 5 %"
    )
    noise: FiniteFloat | None = Field(
        None, ge=0, description="near exact: relative change that one pair in a hundred of values "
        "of one subject exceeds; a change must be this much larger than minimum_effect to be sure "
        "after one value a side",
    )  # fmt: skip
    learned_from: Count = Field(
        0, description="samples from which noise was learned; 0: it is the default of the metric"
    )
    reason: Text | None = Field(None, description="a sentence; always there if undecided")
    cause: Word | None = Field(None, description="id of the cause that explains it, if one does")


class FunctionChange(Record):
    """Compiled functions of one name whose outcome changed in one kind of way."""

    name: Word = Field(description="the Op, `outer graph`, or the Python function")
    count: Count = Field(description="how many, in the cell where it is the most")
    base: Word = Field(description="outcome in BASE: hit, miss, ...; `absent` if it has none")
    head: Word = Field(description="outcome in HEAD")
    seconds: FiniteFloat = Field(description="more than in BASE in that cell; may be below 0")


class GraphChange(Record):
    """One graph of a model of many that got worse."""

    name: Word = Field(description="the member of the model")
    note: Text = Field("", description="what the cache or the exception says; Ops left to Python")


class Cause(Record):
    """One reason for one or more verdicts: what a person has to look into."""

    id: Word = Field(description="unique in the comparison: cause-1, cause-2 in order of weight")
    kind: CauseKind
    sentence: Text = Field(description="in words, with numbers: what happens and where")
    cells: list[StoredCell] = Field(max_length=1000)
    functions: list[FunctionChange] = Field([], max_length=5000)
    graphs: list[GraphChange] = Field(
        [], max_length=5000, description="those that it concerns, of models that are built apart"
    )
    seconds_lost: FiniteFloat = Field(0.0, description="in its worst cell: of functions, or asleep")


class Workload(Record):
    """Functions that one side compiles and the other does not, in cold builds of one backend."""

    model: Word
    backend: Word
    appeared: list[tuple[Word, Count]] = Field(max_length=5000, description="name, how many more")
    vanished: list[tuple[Word, Count]] = Field(max_length=5000, description="name, how many fewer")


class Missing(Record):
    """A cell that could not be compared, or not wholly."""

    cell: StoredCell
    side: Literal["base", "head", "both"]
    reason: Text


class Difference(Record):
    """Something of the environments, beside the subject itself, that differs."""

    what: Word = Field(description="python, cpu, os, or the name of a package")
    base: Word | None
    head: Word | None
    because: Text = Field("", description="the requirement for which both cannot have the same")


class Comparison(Record):
    """Two subjects, compared cell by cell."""

    schema_: Literal["observatory/comparison/1"] = Field("observatory/comparison/1", alias="schema")
    observatory: Word = Field(description="version of the tool")
    base: Side
    head: Side
    started_at: Moment
    seconds: FiniteFloat = Field(description="wall time of the comparison; 0 of saved results")
    interleaved: bool = Field(description="whether both were measured in one run, side by side")
    seed: Count = Field(description="of the order of the samples, the test and the bootstrap")
    verdicts: list[Verdict] = Field(max_length=20_000)
    causes: list[Cause] = Field([], max_length=1000, description="heaviest first")
    workload: list[Workload] = Field([], max_length=100)
    missing: list[Missing] = Field([], max_length=5000)
    differences: list[Difference] = Field([], max_length=1000)
    warnings: list[Text] = Field([], max_length=1000, description="sentences, before any number")
    reproduce: Text = Field("", description="the command that repeats it")
    base_ref: Word | None = Field(None, description="the branch or tag that BASE was asked for by")
    head_ref: Word | None = Field(None, description="the branch or tag that HEAD was asked for by")
    profiled: StoredCell | None = Field(
        None, description="cell of the flame graph, which is beside the samples: profile.html"
    )

    @property
    def worse(self) -> list[Verdict]:
        """The verdicts that say that HEAD is worse than BASE."""
        return [verdict for verdict in self.verdicts if verdict.conclusion == "worse"]

    @property
    def undecided(self) -> list[Verdict]:
        """The verdicts that could not decide; each has a reason."""
        return [verdict for verdict in self.verdicts if verdict.conclusion == "undecided"]
