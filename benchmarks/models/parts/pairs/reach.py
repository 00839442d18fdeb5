"""In which properties of which Ops the two graphs of a pair differ, once they are rewritten."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from ... import NotInThisRelease
from ..op_classes import ops_in
from .draft import Draft
from .pair import Side
from .registry import PAIRS

Values = dict[str, list[str]]
"""By "Op.property", the values that a graph has, sorted."""


def properties(members: Iterable[str]) -> dict[str, list[str]]:
    """Return, by "Op.property", the pairs whose graphs differ in it with the mode NUMBA.

    Pairs of one property alone come first. A pair that this release cannot make is left out.
    """
    found: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for name in members:
        try:
            first, second = (_values(side) for side in (PAIRS[name].first, PAIRS[name].second))
        except NotInThisRelease:
            continue
        except Exception:  # noqa: S112 - a graph that cannot be rewritten has no properties
            continue
        own = [one for one in first.keys() & second.keys() if first[one] != second[one]]
        for one in own:
            found[one].append((len(own), name))
    return {one: [name for _, name in sorted(pairs)] for one, pairs in sorted(found.items())}


def _values(side: Side) -> Values:
    from pytensor import config
    from pytensor.compile.mode import get_mode
    from pytensor.graph.fg import FunctionGraph

    draft = Draft()
    with config.change_flags(**side.flags):
        outputs = side.made(draft)
        several = list(outputs) if isinstance(outputs, list | tuple) else [outputs]
        graph = FunctionGraph(draft.inputs, several, clone=True)
        get_mode("NUMBA").optimizer.rewrite(graph)
    values: Values = defaultdict(list)
    for op in ops_in(graph.outputs):
        for name in getattr(op, "__props__", None) or ():
            values[f"{type(op).__name__}.{name}"].append(repr(getattr(op, name, None)))
    return {one: sorted(all_of) for one, all_of in values.items()}
