"""Which parts of a build really do more: judged by part, false discoveries controlled. Pure.

The counts of most parts are equal in all samples of a subject, and there are few samples. A part's
own variance is therefore moderated by what is usual among all parts: G. K. Smyth, "Linear models
and empirical Bayes methods for assessing differential expression in microarray experiments" (2004).
Counts vary with their size, so that the usual variance is a share of the mean. The p-values of all
parts of a kind go through the procedure of Benjamini and Hochberg.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import scipy  # its statistics take a second to import: they are when they are first asked for

from observatory.analyze.profiles.difference import difference
from observatory.analyze.profiles.modules import imported
from observatory.store.records.profile import CallTree, PartChange, Profile, ProfileDifference

FALSE_DISCOVERY_RATE = 0.05
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


def judged(bases: Sequence[Profile], heads: Sequence[Profile]) -> ProfileDifference | None:
    """Return how HEAD differs from BASE, with the parts whose own counts changed for sure.

    ``bases``, ``heads``: the profiles of repeated samples of one cell; those without a tree of
    calls do not count. None where a side has none. The numbers are of the samples with the median
    number of calls.
    """
    before = [one for one in bases if one.tree is not None]
    after = [one for one in heads if one.tree is not None]
    if not before or not after:
        return None
    found = difference(typical(before), typical(after))
    if found is None:
        return None
    functions = _changed(_entered(before), _entered(after))
    rewriters = _changed(
        [_counts_of(one, "rewriters") for one in before],
        [_counts_of(one, "rewriters") for one in after],
    )
    phases = _changed(
        [_counts_of(one, "phases") for one in before], [_counts_of(one, "phases") for one in after]
    )
    samples = min(len(before), len(after))
    alone = samples == 1
    modules = {one.name for one in imported(_trees(before), _trees(after))}
    least = found.base * (SMALLEST_SHARE if alone else SMALLEST_CALLS)

    def kept(changes: list[PartChange], is_changed: Callable[[str], bool]) -> list[PartChange]:
        return [
            change
            for change in changes
            if abs(change.calls) >= least and (alone or is_changed(change.name))
        ]

    return found.model_copy(
        update={
            "samples": samples,
            "modules": [one for one in found.modules if one.calls >= least and one.name in modules],
            "functions": kept(found.functions, functions.__contains__),
            "rewriters": kept(found.rewriters, rewriters.__contains__),
            "phases": kept(found.phases, phases.__contains__),
        }
    )


def grown_parts(found: ProfileDifference) -> list[PartChange]:
    """Return the parts that do much more than before, however small they are in the whole.

    ``found``: as `judged` returns it. The rewriters; the functions only where no rewriter does much
    more. What is new is left out, as it has no size to compare with. Empty where a side has one
    sample, which shows no spread.
    """
    if found.samples < 2:
        return []
    for parts in (found.rewriters, found.functions):
        grown = [one for one in parts if one.calls >= LARGE * _size(one) > 0]
        if grown:
            return grown
    return []


def _size(part: PartChange) -> int:
    return part.base if part.own is None else part.own


def typical(profiles: Sequence[Profile]) -> Profile:
    """Return the profile with the median number of calls; of two such, the one with fewer."""
    ordered = sorted(profiles, key=lambda one: one.tree.calls if one.tree else 0)
    return ordered[(len(ordered) - 1) // 2]


def _counts_of(profile: Profile, kind: str) -> _Counts:
    return {one.name: float(one.calls or 0) for one in getattr(profile, kind)}


def _trees(profiles: Sequence[Profile]) -> list[CallTree]:
    return [one.tree for one in profiles if one.tree is not None]


def _entered(profiles: Sequence[Profile]) -> list[_Counts]:
    return [
        {name: float(count) for name, count in tree.entered.items()} for tree in _trees(profiles)
    ]


def _changed(before: Sequence[_Counts], after: Sequence[_Counts]) -> set[str]:
    """Return the parts whose counts differ between the sides more than between samples."""
    names = sorted(set().union(*before, *after))
    degrees = len(before) + len(after) - 2
    if not names or degrees < 1:
        return set(names)
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
    p_values = 2 * scipy.stats.t.sf(np.abs(means[1] - means[0]) / error, freedom)
    q_values = scipy.stats.false_discovery_control(p_values, method="bh")
    return {name for name, q in zip(names, q_values, strict=True) if q <= FALSE_DISCOVERY_RATE}


def _count(counts: _Counts, name: str, side: Sequence[_Counts]) -> float:
    """Return the count of a part in one sample.

    Where a sample has none, the part was too small to be kept: the smallest count of its side
    stands for it. It is 0 where the whole side has none.
    """
    if name in counts:
        return counts[name]
    return min((one[name] for one in side if name in one), default=0.0)
