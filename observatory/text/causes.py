"""The sentence of a cause: what happens, to how many functions, and which. Pure.

It is plain text on one line without a full stop, and calls the two sides by the given names.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.catalogue import CAUSES
from observatory.analyze.statements import FoundCause, Sides
from observatory.store.records.comparison import FunctionChange
from observatory.text.words import first_of, several

OUTER_GRAPH = "outer graph"
"""What the probes call the function of a whole graph."""
_NAMED = 3
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
