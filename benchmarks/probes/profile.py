"""Which Python functions a build enters, and from where: a calling-context tree of exact counts.

The method is `sys.monitoring` (PEP 669, Python 3.12+). Every node of the tree is one function in
one chain of callers, after G. Ammons, T. Ball and J. R. Larus, "Exploiting hardware performance
counters with flow and context sensitive profiling" (PLDI 1997); a function that calls itself
directly stays on its node. Functions written in C are not counted.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from threading import get_ident
from types import CodeType
from typing import Any

from ..profiles import (
    KEPT_SHARE,
    MOST_NODES,
    OTHER,
    ROOT,
    CallTree,
    Phase,
    Profile,
    Rewriter,
)
from .ledger import shorten
from .left_out import left_out
from .llvm_passes import PassTimer
from .monitoring import monitoring
from .phases import PHASE_OF, PHASES

_DISPATCHERS = (
    "pytensor.graph.rewriting.basic:FromFunctionNodeRewriter.transform",
    "pytensor.graph.rewriting.basic:FromFunctionGraphRewriter.apply",
)
"""What calls the function that a rewriter was made from."""
_DRIVERS = re.compile(
    r"(Sequential|Equilibrium|Walking|NodeProcessing|ActiveMode)\w*Rewriter\.(transform|apply)$"
)
"""Methods of rewriters that only call other rewriters."""
_METHODS = re.compile(
    r"(?P<rewriter>\w*(Rewriter|Optimizer|Canonizer|Inplace\w*|Fusion\w*|Opt))"
    r"\.(transform|apply)$"
)
_IDENTIFIER = re.compile(r"0x[0-9a-f]+|[0-9a-f]{16,}|\d{6,}|(?<=tmp)[0-9a-z_]{8}\b")
"""What differs between processes in the names of generated functions and modules."""


class Node(dict[int, "Node"]):
    """One function in one chain of callers. Its items are its callees, by the id of their code."""

    __slots__ = ("code", "entries", "name")

    def __init__(self, code: CodeType | None, name: str) -> None:
        super().__init__()
        self.code = code
        """Kept, so that no other code object can have its id."""
        self.name = name
        self.entries = 0
        """How often it was entered. A generator is entered once, however often it is resumed."""


class Tracer:
    """Counts the functions that are entered while it is on, in a tree that grows with each use.

    Each thread has a stack and a tree of its own, so that none loses what another one counts.
    Frames that were there before the tracer was switched on are not in the tree. The passes of LLVM
    are timed meanwhile.
    """

    def __init__(self) -> None:
        self.roots: list[Node] = []
        self.llvm = PassTimer()

    def profile(self) -> Profile:
        """Return what was counted so far, bounded in size."""
        return replace(profile_of(self.roots), llvm_passes=self.llvm.passes())

    @property
    def llvm_pass_runs(self) -> int | None:
        """How often passes of LLVM ran in the last block; None where nobody can tell."""
        return self.llvm.runs

    @contextmanager
    def counting_calls(self, counts: list[int]) -> Iterator[object]:
        """Append to ``counts`` the number of Python functions entered inside the block.

        Those of `left_out`, and those that time passes of LLVM, are not counted, and are not in
        the tree.
        Raises AttributeError before Python 3.12, and ValueError if another tool monitors already.
        """
        stacks: dict[int, list[Node]] = {}
        enter, leave, resume = _callbacks(stacks, left_out())
        callbacks = {
            "PY_START": enter,
            "PY_RETURN": leave,
            "PY_UNWIND": leave,
            "PY_YIELD": leave,
            "PY_RESUME": resume,
            "PY_THROW": resume,
        }
        with self.llvm.running():
            try:
                yield from monitoring(callbacks)
            finally:
                roots = [stack[0] for stack in stacks.values()]
                _cut(roots, self.llvm.codes)
                self.roots += roots
                counts.append(sum(node.entries for node in _nodes(roots)))


def _callbacks(
    stacks: dict[int, list[Node]], skipped: Collection[int]
) -> tuple[Callable[..., object], ...]:
    """Return what runs when a function is entered, left, and resumed.

    ``stacks``: for each thread the nodes that it is in, beginning with its root. ``skipped``: the
    ids of code objects that are not counted. These functions take most of the time of this pass:
    they use local names, and no calls that can be spared.
    """

    def enter(code: CodeType, offset: int) -> object:  # noqa: ARG001 - what sys.monitoring calls
        try:
            stack = stacks[get_ident()]
        except KeyError:
            stack = stacks[get_ident()] = [Node(None, ROOT)]
        node = stack[-1]
        if node.code is not code:
            try:
                node = node[id(code)]
            except KeyError:
                if id(code) in skipped:
                    return sys.monitoring.DISABLE  # type: ignore[attr-defined,unused-ignore]
                node[id(code)] = node = Node(code, _name(code, sys._getframe(1).f_globals))
        node.entries += 1
        stack.append(node)
        return None

    def leave(code: CodeType, offset: int, value: object) -> None:  # noqa: ARG001
        # A frame from before this tracer is not on the stack.
        stack = stacks.get(get_ident())
        if stack and stack[-1].code is code:
            stack.pop()

    def resume(code: CodeType, offset: int, error: object = None) -> None:  # noqa: ARG001
        stack = stacks.setdefault(get_ident(), [Node(None, ROOT)])
        node = stack[-1]
        if node.code is not code:
            try:
                node = node[id(code)]
            except KeyError:
                node[id(code)] = node = Node(code, _name(code, sys._getframe(1).f_globals))
        stack.append(node)

    return enter, leave, resume


def _name(code: CodeType, names: dict[str, Any]) -> str:
    module = str(names.get("__name__") or "?")
    return shorten(_IDENTIFIER.sub("*", f"{module}:{code.co_qualname}"))


def _nodes(roots: Sequence[Node]) -> Iterator[Node]:
    """Return the nodes of some trees, without recursion: trees are deep."""
    waiting = list(roots)
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(node.values())


def _cut(roots: Sequence[Node], codes: Collection[int]) -> None:
    """Take the functions with these ids of code out of the trees, with all that they call."""
    for node in _nodes(roots):
        for code in [code for code in node if code in codes]:
            del node[code]


class _Merged:
    """Nodes of one name and one parent as one: code objects can share a name."""

    __slots__ = ("callees", "entries", "name", "total")

    def __init__(self, name: str, nodes: Sequence[Node]) -> None:
        self.name = name
        self.entries = sum(node.entries for node in nodes)
        self.total = self.entries
        """With all callees; `_merged` adds them."""
        self.callees: list[_Merged] = []


def _merged(roots: Sequence[Node]) -> list[_Merged]:
    """Return the nodes of the trees merged by name, each before its callees, which go by name."""
    top = _Merged(ROOT, roots)
    order: list[_Merged] = []
    waiting: list[tuple[_Merged, Sequence[Node]]] = [(top, roots)]
    while waiting:
        merged, nodes = waiting.pop()
        order.append(merged)
        groups: dict[str, list[Node]] = {}
        for node in nodes:
            for callee in node.values():
                groups.setdefault(callee.name, []).append(callee)
        for name in sorted(groups):
            merged.callees.append(_Merged(name, groups[name]))
            waiting.append((merged.callees[-1], groups[name]))
    for merged in reversed(order):
        merged.total += sum(callee.total for callee in merged.callees)
    return order


def profile_of(
    roots: Sequence[Node], kept_share: float = KEPT_SHARE, most_nodes: int = MOST_NODES
) -> Profile:
    """Return the profile of the trees of a tracer, bounded in size.

    ``kept_share``: the smallest share of all calls that a function or node is kept with.
    """
    order = _merged(roots)
    return Profile(*_phases_and_rewriters(order[0]), _tree(order, kept_share, most_nodes))


def _tree(order: list[_Merged], kept_share: float, most_nodes: int) -> CallTree:
    top = order[0]
    totals = sorted((merged.total for merged in order), reverse=True)
    least = kept_share * top.total
    floor = max(1, round(least))
    if len(totals) > most_nodes:
        floor = max(floor, totals[most_nodes] + 1)
    nodes: list[tuple[int, str, int]] = []
    waiting = [(0, top)]
    while waiting:
        depth, merged = waiting.pop()
        nodes.append((depth, merged.name, merged.entries))
        small = sum(callee.total for callee in merged.callees if callee.total < floor)
        large = [callee for callee in merged.callees if callee.total >= floor]
        waiting.extend((depth + 1, callee) for callee in reversed(large))
        if small:  # next to its parent, as it has no callees
            nodes.append((depth + 1, OTHER, small))
    entries: Counter[str] = Counter()
    for merged in order:
        entries[merged.name] += merged.entries
    kept = {name for _, name, _ in nodes} - {OTHER}
    kept |= {name for name, count in entries.items() if count >= least}
    entries[OTHER] = sum(count for name, count in entries.items() if name not in kept)
    names = [ROOT, OTHER, *sorted(kept - {ROOT}, key=lambda name: name.partition(":"))]
    index = {name: number for number, name in enumerate(names)}
    modules: dict[str, tuple[str, ...]] = {"": (ROOT, OTHER)}
    for name in names[2:]:
        module, _, qualname = name.partition(":")
        modules[module] = (*modules.get(module, ()), qualname)
    return CallTree(
        calls=top.total,
        floor=floor,
        modules=modules,
        entries=tuple(entries[name] for name in names),
        depths=tuple(depth for depth, _, _ in nodes),
        functions=tuple(index[name] for _, name, _ in nodes),
        counts=tuple(count for _, _, count in nodes),
    )


def _phases_and_rewriters(top: _Merged) -> tuple[tuple[Phase, ...], tuple[Rewriter, ...]]:
    """Count what belongs to each phase and to each rewriter: the innermost one of a node."""
    calls: Counter[str] = Counter()
    entries: Counter[str] = Counter()
    work: Counter[str] = Counter()
    tries: Counter[str] = Counter()
    waiting: list[tuple[_Merged, str, str, str]] = [(top, "", "", "")]
    while waiting:
        merged, caller, phase, rewriter = waiting.pop()
        if merged.name in PHASE_OF:
            phase, rewriter = PHASE_OF[merged.name], ""
            entries[phase] += merged.entries
        if found := _rewriter(merged.name, caller):
            rewriter = found
            tries[rewriter] += merged.entries
        calls[phase] += merged.entries
        work[rewriter] += merged.entries
        waiting.extend((callee, merged.name, phase, rewriter) for callee in merged.callees)
    least = KEPT_SHARE * top.total
    return (
        tuple(Phase(name, entries[name], calls=calls[name]) for name in PHASES if name in entries),
        tuple(
            Rewriter(name, tries=tries[name], calls=count)
            for name, count in work.most_common()
            if name and count >= least
        ),
    )


def _rewriter(name: str, caller: str) -> str:
    """Return the rewriter whose work begins with a function; empty if none does."""
    qualname = name.partition(":")[2]
    if caller in _DISPATCHERS:
        # What else they call compares and hashes types.
        return "" if qualname.rpartition(".")[2].startswith("__") else qualname
    found = _METHODS.search(qualname)
    if found is None or name in _DISPATCHERS or _DRIVERS.search(qualname):
        return ""
    return found["rewriter"]
