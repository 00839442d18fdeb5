"""Which parts of a build really do more: judged by part, false discoveries controlled. Pure.

The counts of most parts are equal in all samples of a subject, and there are few samples. A part's
own variance is therefore moderated by what is usual among all parts: G. K. Smyth, "Linear models
and empirical Bayes methods for assessing differential expression in microarray experiments" (2004).
Counts vary with their size, so that the usual variance is a share of the mean. The p-values of all
parts of a kind go through the procedure of Benjamini and Hochberg.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TypeVar

import numpy as np
import scipy  # its statistics take a second to import: they are when they are first asked for

from observatory.analyze.chance import FALSE_DISCOVERY_RATE
from observatory.analyze.profiles.difference import difference, pass_runs
from observatory.analyze.profiles.modules import imported
from observatory.store.records.profile import CallTree, PartChange, Profile, ProfileDifference

SMALLEST_SHARE = 0.001
"""Of all calls: what a change must be at least if a side has one sample, which shows no spread."""
SMALLEST_CALLS = 0.0005
"""Of all calls: smaller changes of a part are not named, however sure they are."""
LARGE = 0.5
"""Of its own calls: what a part must do more to be named where the whole is as before."""
_PRIOR = 4.0
"""Degrees of freedom of the variance that is usual among all parts."""
_USUAL = 0.9
"""The share of the parts that vary at most as much as is called usual."""
_LEAST_VARIANCE = 0.25
"""Counts are whole numbers: the variance of rounding one is 1/12, and of a doubtful one 1/4."""

_Counts = Mapping[str, float]
Part = tuple[str, str]
"""The kind and the name of a part."""
KINDS = ("function", "rewriter", "phase", "pass")
"""The kinds of parts that are judged by their counts."""
_Key = TypeVar("_Key")


def judged(
    bases: Sequence[Profile],
    heads: Sequence[Profile],
    changed: Collection[Part] | None = None,
) -> ProfileDifference | None:
    """Return how HEAD differs from BASE, with the parts whose own counts changed for sure.

    ``bases``, ``heads``: the profiles of repeated samples of one cell; those without a tree of
    calls do not count. None where a side has none. The numbers are of the samples with the median
    number of calls. ``changed``: the parts that changed for sure, where more than these samples
    says which; None: these samples say it.
    """
    before = [one for one in bases if one.tree is not None]
    after = [one for one in heads if one.tree is not None]
    if not before or not after:
        return None
    found = difference(typical(before), typical(after))
    if found is None:
        return None
    samples = min(len(before), len(after))
    alone = changed is None and samples == 1
    if changed is None:
        changed = set().union(*(sure(p_values(before, after, (kind,))) for kind in KINDS))
    modules = {one.name for one in imported(_trees(before), _trees(after))}
    least = least_calls(found.base, alone)

    def kept(changes: list[PartChange], least: float = least) -> list[PartChange]:
        return [
            change
            for change in changes
            if abs(change.calls) >= least and (alone or (change.kind, change.name) in changed)
        ]

    return found.model_copy(
        update={
            "samples": samples,
            "modules": [
                one for one in found.modules if abs(one.calls) >= least and one.name in modules
            ],
            "functions": kept(found.functions),
            "rewriters": kept(found.rewriters),
            "phases": kept(found.phases),
            "passes": kept(found.passes, least_calls(found.pass_runs, alone)),
        }
    )


def least_calls(total: int, alone: bool = False) -> float:
    """Return the smallest change of a part that is named, in a build of so many calls or runs.

    ``alone``: whether a side has one sample, and nothing else shows the spread.
    """
    return total * (SMALLEST_SHARE if alone else SMALLEST_CALLS)


def grown_parts(found: ProfileDifference) -> list[PartChange]:
    """Return the parts that do much more than before, however small they are in the whole.

    ``found``: as `judged` returns it, of sides whose spread is known. The phases, then the
    rewriters; the functions only where no rewriter does much more. What is new is left out, as it
    has no size to compare with. So is a function that is entered about as often as before: what it
    calls has grown, and that is another part.
    """
    phases, rewriters, functions = (
        [one for one in parts if _is_large(one)]
        for parts in (found.phases, found.rewriters, found.functions)
    )
    return [*phases, *(rewriters or functions)]


def grown_passes(found: ProfileDifference) -> list[PartChange]:
    """Return the passes of LLVM that run much more often than before, as `grown_parts` does."""
    return [one for one in found.passes if _is_large(one)]


def _is_large(part: PartChange) -> bool:
    before = counts_of_change(part)[0]
    more = min(part.calls, part.head - part.base) if part.kind == "function" else part.calls
    return more >= LARGE * before > 0


def counts_of_change(part: PartChange) -> tuple[int, int]:
    """Return how much a part did in BASE and in HEAD: calls; of a function, its entries."""
    if part.own is not None:
        return part.own, part.own + part.calls
    return part.base, part.head


def count_in(profile: Profile, part: Part) -> int:
    """Return how much a part does in one build; 0 where it is absent or too small to be kept."""
    return int(_counts(profile, part[0]).get(part[1], 0))


def parts_of(profile: Profile) -> set[Part]:
    """Return all parts of a build."""
    return {(kind, name) for kind in KINDS for name in _counts(profile, kind)}


def may_have_grown(base: Profile, head: Profile) -> bool:
    """Return whether any part may have grown much in these two builds: a quick look."""
    sides = ((_counts(base, kind), _counts(head, kind)) for kind in KINDS)
    return any(
        new.get(name, 0.0) - before >= LARGE * before > 0
        for old, new in sides
        for name, before in old.items()
    )


def typical(profiles: Sequence[Profile]) -> Profile:
    """Return the profile with the median number of calls; of two such, the one with fewer."""
    ordered = sorted(profiles, key=lambda one: one.tree.calls if one.tree else 0)
    return ordered[(len(ordered) - 1) // 2]


def _counts(profile: Profile, kind: str) -> _Counts:
    if kind == "function":
        entered = {} if profile.tree is None else profile.tree.entered
        return {name: float(count) for name, count in entered.items()}
    if kind == "pass":
        return {name: float(runs) for name, runs in pass_runs(profile).items()}
    parts = profile.phases if kind == "phase" else profile.rewriters
    return {one.name: float(one.calls or 0) for one in parts}


def _trees(profiles: Sequence[Profile]) -> list[CallTree]:
    return [one.tree for one in profiles if one.tree is not None]


def sure(p_values: Mapping[_Key, float]) -> set[_Key]:
    """Return what changed, with false discoveries controlled over everything that is given."""
    if not p_values:
        return set()
    q_values = scipy.stats.false_discovery_control([*p_values.values()], method="bh")
    return {key for key, q in zip(p_values, q_values, strict=True) if q <= FALSE_DISCOVERY_RATE}


def p_values(
    bases: Sequence[Profile], heads: Sequence[Profile], kinds: Sequence[str] = KINDS
) -> dict[Part, float]:
    """Return for each part how likely such a difference is between samples of one subject.

    Empty where no side has two samples, as nothing then shows their spread.
    """
    found: dict[Part, float] = {}
    for kind in kinds:
        before, after = (
            [_counts(one, kind) for one in side if kind != "pass" or one.llvm_passes is not None]
            for side in (bases, heads)
        )
        if before and after:  # of passes, a sample may know nothing: that is not none
            found |= {(kind, name): p for name, p in _tested(before, after).items()}
    return found


def _tested(before: Sequence[_Counts], after: Sequence[_Counts]) -> dict[str, float]:
    """Return by part how likely it is that its counts differ so much between samples alone."""
    names = sorted(set().union(*before, *after))
    degrees = len(before) + len(after) - 2
    if not names or degrees < 1:
        return {}
    sides = [np.array([[_count(one, name, side) for one in side] for name in names])
             for side in (before, after)]  # fmt: skip
    means = [side.mean(axis=1) for side in sides]
    spread = sum(((side - side.mean(axis=1, keepdims=True)) ** 2).sum(axis=1) for side in sides)
    mean = (means[0] + means[1]) / 2
    own = spread / degrees
    # A few parts whose counts follow the hash seed must not be what is usual among all others.
    usual = np.quantile(own / np.maximum(mean, 1.0), _USUAL) * mean
    usual = np.maximum(usual, _LEAST_VARIANCE)
    # A part that is noisier than usual has its own variance, and what few samples know of it.
    noisy = own > usual
    variance = np.where(noisy, own, (_PRIOR * usual + spread) / (_PRIOR + degrees))
    freedom = np.where(noisy, degrees, _PRIOR + degrees)
    error = np.sqrt(variance * (1 / len(before) + 1 / len(after)))
    found = 2 * scipy.stats.t.sf(np.abs(means[1] - means[0]) / error, freedom)
    return dict(zip(names, found.tolist(), strict=True))


def _count(counts: _Counts, name: str, side: Sequence[_Counts]) -> float:
    """Return the count of a part in one sample.

    Where a sample has none, the part was too small to be kept: the smallest count of its side
    stands for it. It is 0 where the whole side has none.
    """
    if name in counts:
        return counts[name]
    return min((one[name] for one in side if name in one), default=0.0)
