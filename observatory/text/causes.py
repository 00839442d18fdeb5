"""The sentence for a cause: what the catalogue says, with its numbers and names. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from observatory.analyze.statements import FoundCause, Sides
from observatory.benchmarks.catalogue import CAUSES
from observatory.benchmarks.messages import OUTER_GRAPH
from observatory.store.records.comparison import FunctionChange, GraphChange
from observatory.text.words import first_of, plural, several

_NAMED = 3
_NAMED_GRAPHS = 6
_LONGEST = 80
_LONGEST_NOTE = 160
_LONGEST_SENTENCE = 1000
_ONE = {
    "miss": "misses", "their_keys": "its key differs", "them": "it", "are": "is",
    "work": "works", "fail": "fails", "have": "has", "share": "shares",
}  # fmt: skip
_MANY = {
    "miss": "miss", "their_keys": "their keys differ", "them": "them", "are": "are",
    "work": "work", "fail": "fail", "have": "have", "share": "share",
}  # fmt: skip


def cause_sentence(cause: FoundCause, sides: Sides) -> str:
    """The sentence of the catalogue for a cause, and the names of its functions."""
    if cause.kind == "wrong results":
        if not cause.wrong:
            return f"{sides.head}'s values are wrong"
        note = next((check.note for check in cause.wrong if check.note), None)
        example = f", e.g. {cause.wrong[0].name}: {note}" if note else _graphs(cause.graphs)
        are = "is" if len(cause.wrong) == 1 else "are"
        sentence = (
            f"{len(cause.wrong)} of the values that {sides.head} computes {are} wrong{example}"
        )
        return sentence[:_LONGEST_SENTENCE]
    known = CAUSES[cause.kind]
    number = sum(change.count for change in cause.functions)
    if cause.kind == "unexplained" and not number:
        return "more functions are compiled, and the ledgers do not tell which"
    if known.noun != "function":
        number = len(cause.graphs) or cause.more
    sentence = (known.sentence if cause.sure else known.cautious).format(
        they=several(number, known.noun) if number else plural(known.noun),
        family=cause.family, base=sides.base, head=sides.head,
        **(_ONE if number == 1 else _MANY),
    )  # fmt: skip
    names = _names(cause.functions, known.of_keys)
    return sentence + names + _graphs(cause.graphs, bool(cause.functions))


def _graphs(graphs: Sequence[GraphChange], after_functions: bool = False) -> str:
    """The graphs of a cause as the end of a sentence: `: cholesky (its reason), solve and 3 more`.

    A reason that several graphs give is said once, after the last of them.
    """
    if not graphs:
        return ""
    by_note: dict[str, list[str]] = {}
    for graph in graphs:
        by_note.setdefault(graph.note, []).append(graph.name)
    told, left, rest = [], _NAMED_GRAPHS, 0
    why = "reason: " * after_functions
    for note, names in sorted(by_note.items(), key=lambda item: -len(item[1])):
        if left > 0:
            told.append(first_of(names, left) + f" ({why}{_cut(note, _LONGEST_NOTE)})" * bool(note))
        else:
            rest += len(names)
        left -= len(names)
    more = f" and {rest} more" if rest else ""
    where = f"; in the graph{'s' * (len(graphs) > 1)} " if after_functions else ": "
    return f"{where}{'; '.join(told)}{more}"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


def _names(functions: Sequence[FunctionChange], of_keys: bool) -> str:
    """The names, the most expensive first, as the end of a sentence: `: A, B and 3 more`.

    ``of_keys``: the outer graph, whose key is made of the keys of all its Ops, follows from them,
    and is named last. Otherwise it is named first: only where it misses, its Ops are asked for.
    """
    if not functions:
        return ""
    ops = [one for one in functions if one.name != OUTER_GRAPH]
    others = [_cut(one.name, _LONGEST) for one in ops]
    outer = ["the outer graph"] * (len(ops) < len(functions))
    if not ops or not of_keys:
        return f": {first_of([*outer, *others], _NAMED)}"
    them = "it" if sum(one.count for one in ops) == 1 else "them"
    follows = f"; with {them} the outer graph, made of {them}" if outer else ""
    return f": {first_of(others, _NAMED)}{follows}"
