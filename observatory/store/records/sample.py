"""The record of one sample, as `python -m benchmarks.sample` prints it.

These models are the published schema: ``docs/schemas/sample-1.json`` is made from them, and
whatever arrives from another process is validated by them before anything else reads it.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Literal

from pydantic import Field, FiniteFloat, GetCoreSchemaHandler, StringConstraints
from pydantic_core import core_schema

from observatory.benchmarks.catalogue import Cell, Measure
from observatory.benchmarks.messages import LedgerOutcome, Status, StepStatus
from observatory.store.base.moments import Moment
from observatory.store.base.record import Record
from observatory.store.records.profile import Profile

Word = Annotated[str, StringConstraints(max_length=200)]
Text = Annotated[str, StringConstraints(max_length=4000)]
MOST = 10**18
"""No number of a measured process is larger: with those below, one can reckon without overflow."""
Count = Annotated[int, Field(ge=0, le=MOST)]
Finite = Annotated[FiniteFloat, Field(ge=-MOST, le=MOST)]
CacheKind = Annotated[str, StringConstraints(max_length=40, pattern=r"^[a-z][a-z0-9_]*$")]
"""What kind of cache an entry of a ledger is about: `numba`, `c_module`."""
_Whole = Annotated[int, Field(ge=-MOST, le=MOST)]
Number = Annotated[_Whole | Finite, Field(union_mode="left_to_right")]


class _StoredCell:
    """How pydantic reads and writes a `Cell`: an object of its words, each of bounded length."""

    @staticmethod
    def __get_pydantic_core_schema__(
        cell: type[Cell], handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        word = handler.generate_schema(Word)
        names = [field.name for field in fields(cell)]
        words = [core_schema.dataclass_field(name, word) for name in names]
        return core_schema.dataclass_schema(
            cell,
            core_schema.dataclass_args_schema(cell.__name__, words, extra_behavior="forbid"),
            names,
            config=core_schema.CoreConfig(extra_fields_behavior="forbid"),
            revalidate_instances="always",
            ref="Cell",
            frozen=True,
        )


StoredCell = Annotated[Cell, _StoredCell]
"""A cell of a record. A word of more than 200 characters is refused."""


class Failure(Record):
    """How a sample ended that did not end well."""

    message: Text = Field(description="one sentence: what happened")
    signal: Word | None = Field(None, description="name of the signal, e.g. SIGSEGV")
    exit_code: int | None = None
    stderr: list[Text] = Field(default=[], max_length=40, description="last lines of stderr")


class Size(Record):
    """The place of a graph in a family whose graphs differ in nothing but a size."""

    family: Word
    noun: Word = Field(description="what the size counts, in the plural")
    number: Count
    limit: Finite = Field(description="CPU seconds after which its build is ended")
    equal_layers: bool = Field(
        False, description="it repeats equal layers, whose inner function should be compiled once"
    )


class Build(Record):
    """One build among several of a sample (`variants`, `siblings`, `census_warm`)."""

    name: Word = Field(description="the variant that was built")
    metrics: dict[Word, Number]
    status: StepStatus = Field(
        "ok",
        description="absent: the release has no such Op; limited: its size, or a smaller one of "
        "its family, takes more CPU time than it may; collided: the graph is right only with a "
        "cache of its own; unstable: an equal graph was not found in the cache",
    )
    note: Text | None = Field(None, description="why the status is not ok")
    in_python: list[Word] = Field([], description="Ops that the backend leaves to Python")
    compiled: list[Word] = Field(
        [], description="a step of the path: who asked for each PyTensor function"
    )
    size: Size | None = Field(None, description="in the scenario growth: its family and size")


class Check(Record):
    """One evaluation, compared with the reference in NumPy or SciPy."""

    name: Word = Field(description="the graph, and who evaluated it where several did")
    logp_error: FiniteFloat | None = Field(
        description="relative; of every value where a graph has no logp; of draws the distance "
        "from their distribution function; null: not finite, or of another shape"
    )
    gradient_error: FiniteFloat | None = Field(
        description="the largest of the entries, each relative to itself (to a ten-thousandth of "
        "the largest where it nearly cancels); null: not finite, or there is none"
    )
    wrong: bool = Field(description="an error is above the tolerance")
    note: Text | None = Field(None, description="e.g. which other variant's numbers these are")


class OpCoverage(Record):
    """Which Ops of a release no graph of a sample has."""

    implemented: dict[Word, Count] = Field(
        description="by backend (c, jax, numba), how many Ops it implements"
    )
    untried: dict[Word, list[Word]] = Field(
        description="Ops that no graph has, neither as it is made nor after the rewrites, each "
        "with the backends that implement it"
    )


class StoredEntry(Record):
    """A ledger entry as the store of ledgers keeps it: without its seconds."""

    name: Word = Field(description="the Op, or the qualified name of the Python function")
    kind: CacheKind
    key: Word = Field(description="what the cache was asked for; empty for `internal`")
    outcome: LedgerOutcome
    source: Literal["memory", "disk"] | None = Field(None, description="where a hit came from")
    bytes: Count | None = Field(None, description="machine code")
    step: Word | None = Field(None, description="the build that it belongs to")
    why: Text | None = Field(None, description="the cache's own reason to refuse it")


class LedgerEntry(StoredEntry):
    """One compiled function, or one that a cache returned."""

    seconds: Finite = Field(description="of this function alone, nested ones excluded")


class Overhead(Record):
    """Where the wall time of the sample went, in seconds. The rest is the span itself."""

    total: Finite = Field(description="from the call of the primitive to its record")
    prepare: Finite = Field(description="sandbox made, cache copied, and removed at the end")
    fill: Finite = Field(description="another process that filled the cache; 0 if given")
    start: Finite = Field(description="from starting the process to its first line")
    imports: Finite = Field(description="pytensor, numba, pymc")
    build: Finite = Field(description="symbolic graph and reference, outside the clock")
    warm_up: Finite = Field(description="first build of warm_process, the build of call")
    measured: Finite = Field(description="the spans that metrics speak of")
    exit: Finite = Field(description="from the report to the end of the process")
    rest: Finite = Field(description="what the parts above do not explain")


class Sample(Record):
    """One sample: one cell, one pass, one isolated process."""

    schema_: Literal["observatory/sample/1"] = Field(alias="schema")
    cell: StoredCell
    measure: Measure
    status: Status
    failure: Failure | None = None
    metrics: dict[Word, Number] = Field(description="by name, in the units of the vocabulary")
    absent: dict[Word, Text] = Field(description="metrics not given, each with the reason")
    steps: list[Build] = Field([])
    checks: list[Check] = Field([])
    stale: list[Word] = Field([], description="graphs whose value this subject does not compile")
    ledger: list[LedgerEntry] | None = Field(None, description="counting pass only")
    profile: Profile | None = Field(None, description="timing and tracing pass only")
    environment: dict[Word, Text | None] = Field(description="versions and machine, as strings")
    hash_seed: Count
    overhead: Overhead | None = None
    counted_by: Text | None = Field(
        None,
        description="pass work: what counted the instructions, and the CPU of the code; pass "
        "tracing: what counted the calls, where older versions counted more of them",
    )
    coverage: OpCoverage | None = Field(
        None, description="counting pass of census_cold only; null in samples from before it"
    )
    leaked: dict[Word, Count] = Field(
        {}, description="counting pass: by name, the files that stayed in the temporary directory"
    )
    effects: list[Word] = Field(
        [], description="counting pass: what of the process the measured builds left changed"
    )
    started_at: Moment
