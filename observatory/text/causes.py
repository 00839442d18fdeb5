"""Sentences of causes: what happens, to how many functions, and which. Pure.

Each is plain text on one line without a full stop. It is made from values, and the two sides of the
comparison are called by the names that are given.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from benchmarks.catalogue import CAUSES
from observatory.store.records.comparison import CauseKind, FunctionChange
from observatory.store.records.sample import Check, Sample
from observatory.text.words import first_of, several

OUTER_GRAPH = "outer graph"
"""What the probes call the function of a whole graph."""
_SANDBOX = re.compile(r"[^\s'\"]*observatory-sandbox-[^\s'\"/]*")
_WHO = re.compile(r"^(the process that fills the cache|sibling [^:]{1,80}): ")
_NAMED = 3
_LONGEST = 80
_LONGEST_NOTE = 1000
_ONE = {"miss": "misses", "their_keys": "its key differs", "them": "it", "are": "is"}
_MANY = {"miss": "miss", "their_keys": "their keys differ", "them": "them", "are": "are"}


class Sides(NamedTuple):
    """What the two sides of a comparison are called."""

    base: str = "BASE"
    head: str = "HEAD"


def cause_sentence(
    kind: CauseKind, functions: Sequence[FunctionChange], family: Sequence[str], sides: Sides
) -> str:
    """The sentence of the catalogue for a cause, and the names of its functions.

    ``family``: what distinguishes this cause from others of its kind.
    """
    number = sum(change.count for change in functions)
    if kind == "unexplained" and not number:
        return "more functions are compiled, and the ledgers do not tell which"
    said = CAUSES[kind].sentence.format(
        they=several(number, "function"), family=family, base=sides.base, head=sides.head,
        **(_ONE if number == 1 else _MANY),
    )  # fmt: skip
    return said + _names(functions)


def wrong_sentence(wrong: Sequence[Check], sides: Sides) -> str:
    """The sentence of wrong results. ``wrong``: the checks that failed; none where not recorded."""
    if not wrong:
        return f"{sides.head}'s values are wrong"
    note = next((check.note for check in wrong if check.note), None)
    said = f", e.g. {wrong[0].name}: {note}" if note else ""
    return f"{len(wrong)} of the values that {sides.head} computes are wrong{said}"[:_LONGEST_NOTE]


def failure_of(failures: Sequence[Sample]) -> str:
    """How samples failed, in the words of the last one, without what differs between samples.

    Each sample has a sandbox directory of its own, and one of several processes says which it is.
    """
    if not failures:
        return "samples failed"
    last = failures[-1]
    message = last.failure.message if last.failure else f"the sample was {last.status}"
    return same_words(_WHO.sub("", message))


def same_words(message: str) -> str:
    """A message on one line, without the directory that is another one in each sample."""
    return " ".join(_SANDBOX.sub("SANDBOX", message).split())[:_LONGEST_NOTE]


def _names(functions: Sequence[FunctionChange]) -> str:
    """The names, the costliest first, as the end of a sentence: `: A, B and 3 more`.

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
    return name if len(name) <= _LONGEST else f"{name[:_LONGEST]}…"
