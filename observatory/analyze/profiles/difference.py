"""Where the additional work of a build begins: the difference of two profiles. Pure.

A function that is entered more often enters all its callees more often too. Each additional call
is therefore attributed to the function where the growth begins. Going down both trees at once,
a node passes a factor on to its callees: by how much they would have grown if nothing had changed
in them. What exceeds that begins with the callee itself. What is attributed to all functions adds
up to the difference of all calls, exactly.

Functions that only one side has are taken out of its tree first, and their callees are joined to
their callers: a new wrapper or a new name changes nothing else. So a function is new with its own
entries, and what it calls more often than was called before is found at the callee.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from observatory.analyze.profiles.modules import imported
from observatory.analyze.profiles.renames import united
from observatory.benchmarks.profiles import OTHER, ROOT
from observatory.store.records.profile import (
    CallTree,
    PartChange,
    Profile,
    ProfileDifference,
)

_ENOUGH = 0.25
"""A rewriter or an import with a smaller share of the additional calls is not the main part."""
_MOST = 0.5
_MOST_MODULES = 100
_MOST_RUNS = 10**12
"""What a record may say of one pass; two phases can have one of the same name."""
_NEARLY_KEPT = 4
"""A node of one side that is below so many times the floor may be in `OTHER` on the other side."""


@dataclass
class _Node:
    """One function in one chain of callers."""

    name: str
    entries: float = 0.0
    callees: dict[str, _Node] = field(default_factory=dict)
    total: float = 0.0
    """Its entries and those of everything below it; `_add_totals` sets it."""

    def callee(self, name: str) -> _Node:
        """Return the callee of that name, which is made if there is none; itself by its name."""
        if name == self.name:
            return self
        return self.callees.setdefault(name, _Node(name))


def difference(base: Profile, head: Profile) -> ProfileDifference | None:
    """Return what HEAD does more often than BASE; None where a side has no tree of calls."""
    if base.tree is None or head.tree is None:
        return None
    grown = head.tree.calls - base.tree.calls
    return ProfileDifference(
        base=base.tree.calls,
        head=head.tree.calls,
        modules=_ordered(imported([base.tree], [head.tree]), grown)[:_MOST_MODULES],
        functions=_ordered(united([*_functions(base.tree, head.tree)]), grown),
        rewriters=_ordered(united([*_rewriters(base, head)]), grown),
        phases=_ordered(_phases(base, head), grown),
        pass_runs=sum(pass_runs(base).values()),
        passes=_ordered(_counted("pass", pass_runs(base), pass_runs(head)), 0),
    )


def main_part(found: ProfileDifference) -> PartChange | None:
    """The part that a worsening is explained by; None where HEAD does not do more.

    That is the rewriter that grew most or the import that is new, if they explain the growth at
    all, and no function more of it; else the function with which most of the additional calls
    begin. Where no function is known to have grown, as the counts of samples differ, it is the
    phase that has most of these calls.
    """
    grown = found.head - found.base
    if grown <= 0:
        return None

    def first(parts: Sequence[PartChange]) -> PartChange | None:
        # A new part with many more calls than were added took over those of others.
        most = (1 + _ENOUGH) * grown
        return next(
            (one for one in parts if 0 < one.calls <= (most if one.new else math.inf)), None
        )  # fmt: skip

    rewriter, function = first(found.rewriters), first(found.functions)
    module = next((one for one in found.modules if one.calls > 0), None)
    # What imports a module does so for all of them, and no longer for those that are gone. The
    # function that imports has some calls of its own.
    imports = sum(one.calls for one in found.modules) / (1 - _ENOUGH)
    named = [
        one for one, calls in ((rewriter, rewriter.calls if rewriter else 0), (module, imports))
        if one and calls > _ENOUGH * grown and (function is None or calls >= function.calls)
    ]  # fmt: skip
    if function is not None and function.calls <= _ENOUGH * grown:
        function = main_phase(found) or function
    return max(named, key=lambda one: one.calls, default=function or main_phase(found))


def main_phase(found: ProfileDifference) -> PartChange | None:
    """The phase that has most of the additional calls; None if no phase has half of them."""
    return next((one for one in found.phases[:1] if one.calls > 0 and one.share >= _MOST), None)


def attributed(base: CallTree, head: CallTree) -> dict[tuple[str, str], float]:
    """Return the additional calls that begin with a function, by its name and that of its caller.

    They may be below 0. Their sum is ``head.calls - base.calls``.
    """
    found: dict[tuple[str, str], float] = defaultdict(float)
    known = [set(base.names), set(head.names)]
    one = _without(base, known[1] - {OTHER}, found, -1)
    other = _without(head, known[0] - {OTHER}, found, 1)
    _add_totals(one)
    _add_totals(other)
    small = _NEARLY_KEPT * max(base.floor, head.floor)
    waiting: list[tuple[_Node, _Node, str, float]] = [(one, other, ROOT, 1.0)]
    while waiting:
        before, after, caller, factor = waiting.pop()
        _join_small(before, after, small)
        _join_small(after, before, small)
        passed = _passed_on(before, after, factor)
        expected = sum(callee.total for callee in before.callees.values())
        begins = after.entries - factor * before.entries + (passed - factor) * expected
        found[before.name, caller] += begins
        for name in before.callees.keys() | after.callees.keys():
            here, there = before.callees.get(name), after.callees.get(name)
            if here is None or there is None:
                gone = 0.0 if here is None else here.total
                come = 0.0 if there is None else there.total
                found[name, before.name] += come - passed * gone
            else:
                waiting.append((here, there, before.name, passed))
    return found


def _without(
    tree: CallTree, shared: Collection[str], found: dict[tuple[str, str], float], sign: int
) -> _Node:
    """Return the tree without the functions that are not ``shared``.

    Their own entries are added to ``found``, and their callees become those of their callers.
    """
    root = _Node(ROOT)
    chain: list[_Node] = [root]
    steps = zip(tree.depths[1:], tree.functions[1:], tree.counts[1:], strict=True)
    root.entries += tree.counts[0]
    for depth, function, count in steps:
        del chain[depth:]
        name, caller = tree.names[function], chain[-1]
        if name in shared or name == OTHER:
            node = caller.callee(name)
            node.entries += count
            chain.append(node)
        else:
            found[name, caller.name] += sign * count
            chain.append(caller)
    return root


def _add_totals(root: _Node) -> None:
    order = [root]
    for node in order:
        order.extend(node.callees.values())
    for node in reversed(order):
        node.total = node.entries + sum(callee.total for callee in node.callees.values())


def _join_small(node: _Node, other: _Node, small: float) -> None:
    """Put small callees that only this side has into its `OTHER`, as the other side may have."""
    alone = [name for name in node.callees if name not in other.callees and name != OTHER]
    for name in alone:
        if node.callees[name].total < small:
            rest = node.callee(OTHER)
            rest.entries += node.callees[name].total
            rest.total = rest.entries
            del node.callees[name]


def _passed_on(before: _Node, after: _Node, factor: float) -> float:
    """Return the factor by which the callees of a node grow that have not changed themselves.

    Most functions enter their callees in proportion to their own entries. One that calls whatever
    it is given, as a rewriter's `transform` does, may be entered more often for one callee alone.
    The factor that explains the callees best is taken.
    """
    grown = after.entries / before.entries if before.entries else factor
    names = before.callees.keys() | after.callees.keys()
    totals = [
        (
            before.callees[name].total if name in before.callees else 0.0,
            after.callees[name].total if name in after.callees else 0.0,
        )
        for name in names
    ]

    def unexplained(candidate: float) -> float:
        return sum(abs(come - candidate * gone) for gone, come in totals)

    return min((grown, factor, 1.0), key=unexplained)


def _functions(base: CallTree, head: CallTree) -> Iterator[PartChange]:
    callers: dict[str, dict[str, float]] = defaultdict(dict)
    for (name, caller), calls in attributed(base, head).items():
        callers[name][caller] = calls
    by_name = {name: sum(parts.values()) for name, parts in callers.items()}
    return (
        PartChange(
            kind="function",
            name=name,
            base=base.entered.get(name, 0),
            head=head.entered.get(name, 0),
            calls=round(calls),
            share=0.0,
            caller=_main_caller(callers[name], calls),
            new=name not in base.entered,
        )
        for name, calls in by_name.items()
        if name not in (ROOT, OTHER) and round(calls) != 0
    )


def _main_caller(callers: Mapping[str, float], calls: float) -> str | None:
    """Return the caller from which most of the change comes; None if that is the build itself."""
    name = max(callers, key=lambda caller: callers[caller] * (1 if calls > 0 else -1))
    return None if name == ROOT else name


def _rewriters(base: Profile, head: Profile) -> Iterator[PartChange]:
    before = {one.name: one for one in base.rewriters}
    after = {one.name: one for one in head.rewriters}
    for name in before.keys() | after.keys():
        gone, come = before.get(name), after.get(name)
        calls = ((come and come.calls) or 0) - ((gone and gone.calls) or 0)
        if calls:
            yield PartChange(
                kind="rewriter",
                name=name,
                base=(gone and gone.tries) or 0,
                head=(come and come.tries) or 0,
                calls=calls,
                share=0.0,
                new=gone is None,
                own=(gone and gone.calls) or 0,
            )


def pass_runs(profile: Profile) -> dict[str, int]:
    """Return how often each pass of LLVM ran, as far as LLVM says, by its name."""
    found: dict[str, int] = defaultdict(int)
    for one in profile.llvm_passes or ():
        if one.name != OTHER and one.runs is not None:
            found[one.name] = min(found[one.name] + one.runs, _MOST_RUNS)
    return found


def _phases(base: Profile, head: Profile) -> Iterator[PartChange]:
    before, after = ({one.name: one.calls or 0 for one in side.phases} for side in (base, head))
    return _counted("phase", before, after)


def _counted(
    kind: Literal["phase", "pass"], before: Mapping[str, int], after: Mapping[str, int]
) -> Iterator[PartChange]:
    """The parts of a kind whose counts differ, which have no entries apart from these."""
    return (
        PartChange(
            kind=kind,
            name=name,
            base=before.get(name, 0),
            head=after.get(name, 0),
            calls=after.get(name, 0) - before.get(name, 0),
            share=0.0,
            new=name not in before,
        )
        for name in before.keys() | after.keys()
        if after.get(name, 0) != before.get(name, 0)
    )


def _ordered(changes: Iterable[PartChange], grown: int) -> list[PartChange]:
    """Return the changes with their shares, the largest growth first.

    ``grown``: the difference of all calls, of which parts of this kind may explain only some.
    """
    changes = [change for change in changes if change.calls]
    listed = sorted(changes, key=lambda change: (-change.calls, change.name))
    more = max(grown, sum(change.calls for change in listed if change.calls > 0))
    fewer = max(-grown, -sum(change.calls for change in listed if change.calls < 0))
    return [
        change.model_copy(update={"share": change.calls / (more if change.calls > 0 else fewer)})
        for change in listed
    ]
