"""Modules that only HEAD imports in a build, from trees of calls. Pure.

The code of a module is entered once, as the function ``<module>``. What an import enters is all
that is below it in the tree, and a module that is imported by another one is part of its import.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from observatory.store.records.profile import CallTree, PartChange

_BODY = ":<module>"


def imported(bases: Sequence[CallTree], heads: Sequence[CallTree]) -> Iterator[PartChange]:
    """Return the imports that every HEAD does and no BASE, with the calls of the first HEAD.

    Imports with fewer calls than the tree keeps nodes for are left out.
    """
    in_all = set.intersection(*(_bodies(tree) for tree in heads))
    new = in_all - set().union(*(_bodies(tree) for tree in bases))
    for name, calls in _imports(heads[0], new).items():
        yield PartChange(
            kind="module", name=name.removesuffix(_BODY), base=0, head=1, calls=calls, share=0.0,
            new=True,
        )  # fmt: skip


def _bodies(tree: CallTree) -> set[str]:
    return {name for name in tree.names if name.endswith(_BODY)}


def _imports(tree: CallTree, new: set[str]) -> Counter[str]:
    """Return the calls of each outermost import of one of these modules."""
    found: Counter[str] = Counter()
    outer, above = "", 0
    for depth, function, count in zip(tree.depths, tree.functions, tree.counts, strict=True):
        if outer and depth <= above:
            outer = ""
        if not outer and tree.names[function] in new:
            outer, above = tree.names[function], depth
        if outer:
            found[outer] += count
    return found
