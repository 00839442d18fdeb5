"""The profile of a build: what it did and where its seconds went.

The tracing pass gives calls: exact counts of the Python functions that the build entered, as a
tree of callers and callees, and the passes of LLVM. The timing pass gives seconds: by phase and by
rewriter. The counting pass gives memory by phase. All give the same phases. Functions are named
``module:qualname``.
"""

from __future__ import annotations

from dataclasses import dataclass

ROOT = "(build)"
"""The name of the tree's root: the measured span, which is no function."""
OTHER = "(other)"
"""The name of a node that stands for all callees of its parent that are too small to be kept."""
KEPT_SHARE = 0.0001
"""A function or a node with a smaller share of all calls is not kept by itself."""
MOST_TIMED = 15
"""Rewriters that a profile of times keeps: those that took longest. It stays in the journal."""
KEPT_PASS_SHARE = 0.001
"""An LLVM pass with a smaller share of all seconds is kept by itself only if its runs are known."""
MOST_NODES = 1500
"""Nodes that a tree keeps, at most: the largest ones."""


@dataclass(frozen=True)
class CallTree:
    """How often each function was entered, in all and by chain of callers.

    A node is one function in one chain of callers; a function that calls itself directly stays on
    its node. The nodes are listed depth first, each before its callees. The root is the first.
    """

    calls: int
    """Functions entered in the whole build: the sum of ``counts``."""
    floor: int
    """Nodes with fewer calls, their callees included, were summed into `OTHER`."""
    modules: dict[str, tuple[str, ...]]
    """The functions by module; `ROOT` and `OTHER` are in the module without a name."""
    entries: tuple[int, ...]
    """How often each function was entered, wherever it was called; in the order of ``modules``."""
    depths: tuple[int, ...]
    """For each node, how many callers are above it; 0 for the root."""
    functions: tuple[int, ...]
    """For each node, the index of its function in the order of ``modules``."""
    counts: tuple[int, ...]
    """For each node, how often it was entered; for `OTHER` the sum over all that it stands for."""


@dataclass(frozen=True)
class Phase:
    """One phase of a build, without the phases that ran inside it."""

    name: str
    entries: int
    seconds: float | None = None
    """Timing pass only."""
    calls: int | None = None
    """Functions entered. Tracing pass only."""
    peak_bytes: int | None = None
    """By how much it raised the largest resident memory. Counting pass only."""


@dataclass(frozen=True)
class Rewriter:
    """One rewriter of graphs. Each pass leaves out what it cannot see."""

    name: str
    seconds: float | None = None
    """With what it called."""
    applications: int | None = None
    """How often it changed the graph."""
    nodes_created: int | None = None
    tries: int | None = None
    """How often it was entered."""
    calls: int | None = None
    """Functions entered, without those of rewriters and phases inside it."""


@dataclass(frozen=True)
class LlvmPass:
    """One pass of LLVM, over all code that it was run on."""

    name: str
    """Of the C++ class, or the title of a pass that makes machine code; or `OTHER`."""
    phase: str
    """The phase of a build that it is a part of."""
    seconds: float
    """Of the CPU, with the analyses that it asked for."""
    runs: int | None = None
    """How often it was run on a function, a loop or a module. None: LLVM does not say."""


@dataclass(frozen=True)
class ImportedModule:
    """One module that importing PyTensor and numba imports; its own imports follow it."""

    name: str
    depth: int
    """How many modules are above it: each was imported by the one before it that is less deep."""
    seconds: float
    """Without those that it imports."""


@dataclass(frozen=True)
class Profile:
    """What one pass says about the builds that its metrics are measured on."""

    phases: tuple[Phase, ...] = ()
    rewriters: tuple[Rewriter, ...] = ()
    tree: CallTree | None = None
    """Tracing pass only."""
    unwatched: tuple[str, ...] = ()
    """Phases that could not be seen, since no function that begins one was found in time: what they
    took is part of other phases. Timing and counting pass only."""
    llvm_passes: tuple[LlvmPass, ...] | None = None
    """Tracing pass only. None where nobody could look: it is not known to be none."""
    imports: tuple[ImportedModule, ...] = ()
    """One tracing sample of a subject: in another process, before any build."""
