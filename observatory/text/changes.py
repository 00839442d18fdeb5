"""Sentences of changes along a history: what moved, how much and where. Pure.

``told`` is what the series of a change did, the largest change first where it says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from benchmarks.catalogue import METRICS
from observatory.store.records.alerts import SeriesChange
from observatory.text import sizes, units
from observatory.text.words import first_of, several

_NAMED = 3


class Family(NamedTuple):
    """Metrics that one cause moves, and what is said of a series that did: "takes more memory"."""

    worse: str
    better: str
    verb: str = "is"
    verbs: str = "are"


_TIME = Family("slower", "faster")
_MEMORY = Family("more memory", "less memory", "takes", "take")
_OTHER = Family("higher", "lower")
FAMILIES = {
    **{
        name: (_MEMORY if one.unit == "bytes" else _TIME)._replace(
            worse=one.trend[0], better=one.trend[1]
        )
        for name, one in METRICS.items()
        if one.trend is not None
    },
    "time": _TIME,
    "timeraw": _TIME,
    "memory": _MEMORY,
    "peakmemory": _MEMORY,
}
"""By metric, or by asv's type of a benchmark."""


def family_of(metric: str) -> Family:
    """The family of a metric or of asv's type."""
    return FAMILIES.get(metric, _OTHER)


def count_changed(told: Sequence[SeriesChange], times: Sequence[SeriesChange]) -> str:
    """A count that fell: `cache_misses 105 → 0 (radon warm_disk NUMBA fork and 3 more cells)`.

    ``times``: compile times that came with it.
    """
    return f"{told[0].metric} {_largest(told)}{_with_times(times)}"


def cause_began(
    backends: Sequence[str],
    cause: str,
    told: Sequence[SeriesChange],
    times: Sequence[SeriesChange],
) -> str:
    """A cause that began: the backends, its sentence and, if there are any, its largest count."""
    largest = f": {_largest(told)}" if told else ""
    return f"{', '.join(backends)}: {cause}{largest}{_with_times(times)}"


def level_changed(told: Sequence[SeriesChange], word: str, drifting: bool) -> str:
    """Noisy series that moved together: how much, how sure, where; the largest first.

    ``word``: "slower", "less memory", as `Family` has it.
    """
    most = told[0]
    family = family_of(most.metric)
    slow = ", little by little" if drifting else ""
    if len(told) == 1:
        return f"{most.benchmark} {family.verb} {word}{slow}{_alone(most, drifting)}"
    ratios = [most.ratio for most in told] if drifting else [sizes.medians(one) for one in told]
    known = [ratio for ratio in ratios if ratio is not None]
    by = f" ({units.span(min(known), max(known))})" if known else ""
    names = list(dict.fromkeys(one.benchmark for one in told))
    names[0] += f" ({_numbers(most, drifting)})"
    return f"{len(told)} series {family.verbs} {word}{slow}{by}: {first_of(names, _NAMED)}"


def environment_changed(where: str, eras: tuple[str, str], ends: str, begins: str) -> str:
    """Another processor, system or Python on one machine, from one subject to the next."""
    before, after = eras
    return f"{where}: {before} until {ends}, {after} from {begins} on; each has series of its own"


def environments_alternate(where: str, eras: tuple[str, str]) -> str:
    """Two processors, systems or Pythons whose subjects overlap in time on one machine."""
    return f"{where}: {eras[0]} and {eras[1]} in turn; each has series of its own"


def _largest(told: Sequence[SeriesChange]) -> str:
    """The largest change of a count, and where it is: `105 → 0 (radon cold C fork)`."""
    most = max(told, key=lambda one: abs(one.after - one.before))
    others = len({one.benchmark for one in told}) - 1
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


def _alone(told: SeriesChange, drifting: bool) -> str:
    numbers = _numbers(told, drifting)
    if told.modes is not None:
        return f": {numbers}"
    if drifting and told.ratio is not None:
        return f": {sizes.drifting(told, told.ratio, told.unit)[0]} ({numbers})"
    ratio = sizes.medians(told)
    return f" ({numbers})" if ratio is None else f": {units.signed(ratio)} ({numbers})"


def _numbers(told: SeriesChange, drifting: bool) -> str:
    if drifting and told.ratio is not None:
        return sizes.drifting(told, told.ratio, told.unit)[1]
    return sizes.details(told, told.unit)
