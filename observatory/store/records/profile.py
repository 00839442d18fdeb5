"""The profile of a build, as a sample prints it, and the difference of two profiles.

A profile comes from the environment under test, which is not trusted: its sizes are bounded, and a
tree of calls is refused unless its lists fit together. `benchmarks.profiles` describes the fields.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Annotated, Literal, Self

from pydantic import Field, FiniteFloat, StringConstraints, model_validator

from observatory.benchmarks.profiles import OTHER, ROOT
from observatory.store.base.record import Record

_MOST_NODES = 20_000
_MOST_FUNCTIONS = 10_000
_DEEPEST = 1000
Name = Annotated[str, StringConstraints(max_length=200)]
_Count = Annotated[int, Field(ge=0, le=10**12)]
_Seconds = Annotated[FiniteFloat, Field(ge=0)]


class CallTree(Record):
    """How often each function was entered, in all and by chain of callers."""

    calls: _Count = Field(description="functions entered: the sum of `counts`, and of `entries`")
    floor: _Count = Field(description="smaller nodes were summed into `(other)` of their parent")
    modules: dict[Name, list[Name]] = Field(
        max_length=_MOST_FUNCTIONS,
        description="functions by module; without a name: `(build)`, the root, and `(other)`",
    )
    entries: list[_Count] = Field(
        max_length=_MOST_FUNCTIONS, description="of each function, in the order of `modules`"
    )
    depths: list[Annotated[int, Field(ge=0, le=_DEEPEST)]] = Field(
        min_length=1, max_length=_MOST_NODES, description="of each node, depth first; 0: the root"
    )
    functions: list[_Count] = Field(
        max_length=_MOST_NODES, description="of each node, its place among the functions"
    )
    counts: list[_Count] = Field(
        max_length=_MOST_NODES, description="of each node, how often it was entered there"
    )

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        names = self.names
        if not len(self.depths) == len(self.functions) == len(self.counts):
            raise ValueError("the lists of nodes differ in length")
        if len(names) != len(self.entries) or len(set(names)) != len(names):
            raise ValueError("the functions and their entries do not fit together")
        if max(self.functions) >= len(names) or names[self.functions[0]] != ROOT:
            raise ValueError("a node has no name, or the first is not the root")
        steps = zip(self.depths, self.depths[1:], strict=False)
        if self.depths[0] != 0 or any(not 0 < below <= above + 1 for above, below in steps):
            raise ValueError("the depths are not those of one tree")
        if not sum(self.counts) == sum(self.entries) == self.calls:
            raise ValueError("the counts do not add up to the calls")
        return self

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The functions as ``module:qualname``."""
        return tuple(
            f"{module}:{function}" if module else function
            for module, functions in self.modules.items()
            for function in functions
        )

    @cached_property
    def entered(self) -> dict[str, int]:
        """How often each function was entered, by name; without `(build)` and `(other)`."""
        found = dict(zip(self.names, self.entries, strict=True))
        return {name: count for name, count in found.items() if name not in (ROOT, OTHER)}

    def stacks(self) -> Iterator[tuple[tuple[str, ...], int]]:
        """Return each node as its chain of names, from the root on, with its own entries."""
        chain: list[str] = []
        for depth, function, count in zip(self.depths, self.functions, self.counts, strict=True):
            del chain[depth:]
            chain.append(self.names[function])
            yield tuple(chain), count


class Phase(Record):
    """One phase of a build, without the phases that ran inside it."""

    name: Name
    entries: _Count
    seconds: _Seconds | None = Field(None, description="timing pass only")
    calls: _Count | None = Field(None, description="functions entered; tracing pass only")
    peak_bytes: _Count | None = Field(
        None,
        description="by how much it raised the largest resident memory; counting pass only, where "
        "the phases `before the build` and `not attributed` complete the sum",
    )


class Rewriter(Record):
    """One rewriter of graphs; each pass leaves out what it cannot see."""

    name: Name
    seconds: _Seconds | None = Field(None, description="with what it called; timing pass only")
    applications: _Count | None = Field(None, description="how often it changed the graph")
    nodes_created: _Count | None = None
    tries: _Count | None = Field(None, description="how often it was entered; tracing pass only")
    calls: _Count | None = Field(
        None, description="functions entered, without rewriters and phases inside it; tracing pass"
    )


class LlvmPass(Record):
    """One pass of LLVM, over all code that it was run on; tracing pass only."""

    name: Name
    phase: Name = Field(description="the phase that it is a part of")
    seconds: _Seconds = Field(description="of the CPU, with the analyses that it asked for")
    runs: _Count | None = Field(None, description="None: this LLVM does not say")


class ImportedModule(Record):
    """One module that importing PyTensor and numba imports; its own imports follow it."""

    name: Name
    depth: Annotated[int, Field(ge=0, le=_DEEPEST)]
    seconds: _Seconds = Field(description="without those that it imports")


class Profile(Record):
    """What a build did and where its seconds went."""

    phases: list[Phase] = Field([], max_length=100)
    rewriters: list[Rewriter] = Field([], max_length=2000)
    tree: CallTree | None = Field(None, description="tracing pass only")
    unwatched: list[Name] = Field(
        [], max_length=100, description="phases that could not be seen, because the functions that "
        "begin them have other names or were imported too late; absent in older files",
    )  # fmt: skip
    llvm_passes: list[LlvmPass] | None = Field(
        None, max_length=2000, description="tracing pass only; null where nobody could look, or in "
        "older files: it is not known that there are none",
    )  # fmt: skip
    imports: list[ImportedModule] = Field(
        [], max_length=5000, description="of one tracing sample: before any build"
    )


class ImportChange(Record):
    """The module by which importing takes longer."""

    name: Name
    base: _Seconds | None = Field(description="its own seconds; None: BASE does not import it")
    head: _Seconds = Field(description="its own seconds; of a new one, with those that it imports")
    replaces: Name | None = Field(
        None, description="a module that BASE imports and HEAD does not, whose seconds `base` has"
    )


class PhaseTime(Record):
    """The seconds of one phase of a build, without the phases inside it: medians of samples."""

    name: Name
    base: _Seconds
    head: _Seconds
    sure: bool = Field(
        False, description="whether the sides differ by more than samples of one side do"
    )
    watched: bool = Field(True, description="false: a side could not see it")


class LlvmPassTime(Record):
    """The CPU seconds of one pass of LLVM: medians of tracing samples."""

    name: Name
    phase: Name
    base: _Seconds = Field(description="0: it is not among those that take long")
    head: _Seconds
    base_runs: FiniteFloat | None = Field(None, description="None: not known; 0: it did not run")
    head_runs: FiniteFloat | None = None
    samples: int = Field(1, ge=1, description="of the side that has fewer")


class PhaseMemory(Record):
    """By how many bytes one phase raises the largest resident memory: medians of samples."""

    name: Name
    base: Annotated[FiniteFloat, Field(ge=0)]
    head: Annotated[FiniteFloat, Field(ge=0)]
    watched: bool = Field(True, description="false: a side could not see it")


class PartChange(Record):
    """One part of a build whose own work grew or shrank."""

    kind: Literal["function", "rewriter", "module", "phase", "pass"]
    name: Name
    base: _Count = Field(
        description="how often it was entered in BASE; of a phase, its calls; of an LLVM pass, its "
        "runs"
    )
    head: _Count
    calls: int = Field(
        description="calls more than in BASE that begin with it; may be below 0; of an LLVM pass, "
        "runs"
    )
    share: FiniteFloat = Field(
        description="of all additional calls, or runs; below 0: of all that are no longer made"
    )
    caller: Name | None = Field(None, description="functions: from where most of them come")
    replaces: Name | None = Field(
        None,
        description="a part that BASE alone has, which moved here or did about as much there",
    )
    new: bool = Field(False, description="BASE does not have it, or too seldom to be kept")
    own: _Count | None = Field(
        None, description="rewriters: functions entered in BASE that belong to it"
    )


class ProfileDifference(Record):
    """How the work of HEAD differs from that of BASE, by part, the largest growth first."""

    base: _Count = Field(description="functions entered in BASE")
    head: _Count
    samples: int = Field(1, ge=1, description="profiles of the side that has fewer")
    modules: list[PartChange] = Field(
        [], max_length=100, description="imported by one side alone, with what their imports enter"
    )
    functions: list[PartChange] = Field([], max_length=10_000)
    rewriters: list[PartChange] = Field([], max_length=2000)
    phases: list[PartChange] = Field([], max_length=100)
    pass_runs: int = Field(0, ge=0, description="runs of LLVM passes in BASE, as far as known")
    passes: list[PartChange] = Field([], max_length=4000)
