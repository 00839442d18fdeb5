"""Sentences of changes along a history: what moved, how much and where. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from observatory.analyze.statements import FoundCause, Sides
from observatory.store.records.alerts import SeriesChange
from observatory.text import sizes, units
from observatory.text.causes import cause_sentence
from observatory.text.words import first_of, several

_NAMED = 3


def count_fell(counts: Sequence[SeriesChange], times: Sequence[SeriesChange]) -> str:
    """A count that fell: `cache_misses 105 → 0 (radon warm_disk NUMBA fork and 3 more cells)`.

    ``times``: compile times that fell with it.
    """
    return f"{counts[0].metric} {_largest(counts)}{_with_times(times)}"


def cause_began(
    backends: Sequence[str],
    cause: FoundCause,
    sides: Sides,
    counts: Sequence[SeriesChange],
    times: Sequence[SeriesChange],
) -> str:
    """A cause that began: the backends, its sentence and, if there are any, its largest count."""
    largest = f": {_largest(counts)}" if counts else ""
    return f"{', '.join(backends)}: {cause_sentence(cause, sides)}{largest}{_with_times(times)}"


def level_changed(changes: Sequence[SeriesChange], word: str, drifting: bool) -> str:
    """Noisy series that moved together, the largest change first: how much, how sure and where.

    ``word``: "slower", "less memory".
    """
    most = changes[0]
    verb, verbs = ("takes", "take") if word.endswith("memory") else ("is", "are")
    how = f"{word}, little by little" if drifting else word
    if len(changes) == 1:
        return f"{most.benchmark} {verb} {how}{_of_one(most, drifting)}"
    ratios = [one.ratio if drifting else sizes.medians(one) for one in changes]
    known = [ratio for ratio in ratios if ratio is not None]
    by = f" ({units.span(min(known), max(known))})" if known else ""
    names = list(dict.fromkeys(one.benchmark for one in changes))
    names[0] += f" ({_numbers(most, drifting)})"
    return f"{len(changes)} series {verbs} {how}{by}: {first_of(names, _NAMED)}"


def _largest(changes: Sequence[SeriesChange]) -> str:
    """The largest change of a count, and where it is: `105 → 0 (radon cold C fork)`."""
    most = max(changes, key=lambda one: abs(one.after - one.before))
    others = len({one.benchmark for one in changes}) - 1
    more = f" and {several(others, 'more cell')}" if others else ""
    levels = units.change(most.before, most.after, most.unit)
    return f"{levels} ({most.benchmark}{more})"


def _with_times(times: Sequence[SeriesChange]) -> str:
    if not times:
        return ""
    most = max(times, key=lambda one: abs(one.after - one.before))
    levels = units.change(most.before, most.after, most.unit)
    by = units.effect(most.before, most.after, most.unit)
    return f"; with it {most.metric} is {by} ({levels}, {most.benchmark})"


def _of_one(change: SeriesChange, drifting: bool) -> str:
    numbers = _numbers(change, drifting)
    if change.modes is not None:
        return f": {numbers}"
    if drifting and change.ratio is not None:
        return f": {sizes.drifting(change, change.ratio, change.unit)[0]} ({numbers})"
    ratio = sizes.medians(change)
    return f" ({numbers})" if ratio is None else f": {units.signed(ratio)} ({numbers})"


def _numbers(change: SeriesChange, drifting: bool) -> str:
    if drifting and change.ratio is not None:
        return sizes.drifting(change, change.ratio, change.unit)[1]
    return sizes.details(change, change.unit)
