"""Causes as sentences: what happens, to how many functions, and where. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from benchmarks.catalogue import CAUSES, Cell
from observatory.analyze.comparison.evidence import Evidence
from observatory.store.records.comparison import CauseKind, FunctionChange
from observatory.store.records.sample import Sample

OUTER_GRAPH = "outer graph"
"""What the probes call the function of a whole graph."""
_SANDBOX = re.compile(r"[^\s'\"]*observatory-sandbox-[^\s'\"/]*")
_WHO = re.compile(r"^(the process that fills the cache|sibling [^:]{1,80}): ")
_NAMED = 3
_LONGEST = 80
_LONGEST_NOTE = 1000


_ONE = {"miss": "misses", "their_keys": "its key differs", "them": "it", "are": "is"}
_MANY = {"miss": "miss", "their_keys": "their keys differ", "them": "them", "are": "are"}


def of_cause(
    kind: CauseKind,
    cells: Sequence[Cell],
    functions: Sequence[FunctionChange],
    head: Evidence,
    family: str = "",
) -> str:
    """One sentence without a full stop: plain text on one line. ``family``: what the kind is of."""
    if kind == "wrong results":
        return _wrong(cells, head)
    if kind == "crashed":
        return f"HEAD fails: {failure_of(_failures(cells, head))}"
    number = sum(change.count for change in functions)
    if kind == "unexplained" and not number:
        return "more functions are compiled, and the ledgers do not tell which"
    words = _ONE if number == 1 else _MANY
    they = "1 function" if number == 1 else f"{number} functions"
    said = CAUSES[kind].sentence.format(they=they, family=family, **words)
    return said + _names(functions)


def failure_of(failures: Sequence[Sample]) -> str:
    """How samples failed, in the words of the last one, without what differs from one to another.

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


def _wrong(cells: Iterable[Cell], head: Evidence) -> str:
    # Of each cell its worst sample, as the metric has it: one counted again is not wrong twice.
    of_samples = (
        [[check for check in sample.checks if check.wrong] for sample in head.taken(cell)]
        for cell in cells
    )
    checks = [check for each in of_samples for check in max(each, key=len, default=[])]
    note = next((check.note for check in checks if check.note), None)
    said = f", e.g. {checks[0].name}: {note}" if note else ""
    wrong = f"{len(checks)} of the values that HEAD computes are" if checks else "HEAD's values are"
    return f"{wrong} wrong{said}"[:_LONGEST_NOTE]


def _failures(cells: Iterable[Cell], head: Evidence) -> list[Sample]:
    return [sample for cell in cells for sample in head.failures(cell)]


def _names(functions: Sequence[FunctionChange]) -> str:
    """What they are called, the costliest first, as the end of a sentence: `: A, B and 3 more`.

    The key of the outer graph is made of the keys of all its Ops: where others changed as well it
    follows from them, and is named last.
    """
    if not functions:
        return ""
    others = [_name(change.name) for change in functions if change.name != OUTER_GRAPH]
    if not others:
        return ": the outer graph"
    rest = len(others) - _NAMED
    said = ", ".join(others[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")
    follows = len(others) < len(functions)
    return f": {said}" + ("; with them the outer graph, made of them" if follows else "")


def _name(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[:_LONGEST]}…"
