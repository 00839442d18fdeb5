"""Sentences of causes, and of changes along a history: what moved, how much and where. Pure.

Each is plain text on one line without a full stop.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.catalogue import CAUSES
from observatory.analyze.statements import FoundCause, Sides
from observatory.store.records.alerts import SeriesChange
from observatory.store.records.comparison import FunctionChange
from observatory.text import sizes, units
from observatory.text.words import first_of, several

_NAMED = 3
OUTER_GRAPH = "outer graph"
"""What the probes call the function of a whole graph."""
_LONGEST_NAME = 80
_LONGEST = 1000
_ONE = {"miss": "misses", "their_keys": "its key differs", "them": "it", "are": "is"}
_MANY = {"miss": "miss", "their_keys": "their keys differ", "them": "them", "are": "are"}


def cause_sentence(cause: FoundCause, sides: Sides) -> str:
    """The sentence of the catalogue for a cause, and the names of its functions."""
    if cause.kind == "wrong results":
        return _wrong_results(cause, sides)
    number = sum(change.count for change in cause.functions)
    if cause.kind == "unexplained" and not number:
        return "more functions are compiled, and the ledgers do not tell which"
    sentence = CAUSES[cause.kind].sentence.format(
        they=several(number, "function"), family=cause.family, base=sides.base, head=sides.head,
        **(_ONE if number == 1 else _MANY),
    )  # fmt: skip
    return sentence + _names(cause.functions)


def _wrong_results(cause: FoundCause, sides: Sides) -> str:
    """How many values are wrong, with an example; without it where no check was recorded."""
    wrong = cause.wrong
    if not wrong:
        return f"{sides.head}'s values are wrong"
    note = next((check.note for check in wrong if check.note), None)
    example = f", e.g. {wrong[0].name}: {note}" if note else ""
    return f"{len(wrong)} of the values that {sides.head} computes are wrong{example}"[:_LONGEST]


def _names(functions: Sequence[FunctionChange]) -> str:
    """The names, the most expensive first, as the end of a sentence: `: A, B and 3 more`.

    The key of the outer graph is made of the keys of all its Ops: where others changed as well, its
    change follows from theirs, and it is named last.
    """
    if not functions:
        return ""
    others = [_name(change.name) for change in functions if change.name != OUTER_GRAPH]
    if not others:
        return ": the outer graph"
    follows = "; with them the outer graph, made of them" * (len(others) < len(functions))
    return f": {first_of(others, _NAMED)}{follows}"


def _name(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"


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
