"""Modules that only one side imports in a build, from trees of calls. Pure.

The code of a module is entered once, as the function ``<module>``. What an import enters is all
that is below it in the tree, and a module that is imported by another one is part of its import.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from observatory.analyze.profiles.renames import anywhere, replaced
from observatory.store.records.profile import CallTree, PartChange

_BODY = ":<module>"


def imported(bases: Sequence[CallTree], heads: Sequence[CallTree]) -> Iterator[PartChange]:
    """Return the imports that every HEAD does and no BASE, with the calls of the first HEAD.

    One that HEAD only moved or renamed has its calls beyond those of the import that it replaces.
    The imports that every BASE does and no HEAD follow, with calls below 0: all together are what
    importing adds. Imports with fewer calls than the tree keeps nodes for are left out.
    """
    come, gone = _alone(heads, bases), _alone(bases, heads)
    old = replaced(anywhere(come), anywhere(gone), last)
    for name, calls in come.items():
        before = old.get(name)
        yield PartChange(
            kind="module", name=name, base=int(before is not None), head=1,
            calls=calls - (gone[before] if before else 0), share=0.0, new=before is None,
            replaces=before,
        )  # fmt: skip
    for name in gone.keys() - old.values():
        yield PartChange(
            kind="module", name=name, base=1, head=0, calls=-gone[name], share=0.0
        )  # fmt: skip


def last(module: str) -> str:
    """The name of a module without those of its packages."""
    return module.rpartition(".")[2]


def _alone(some: Sequence[CallTree], others: Sequence[CallTree]) -> dict[str, int]:
    """The calls of the outermost imports that all of some builds do and none of the others."""
    own = set.intersection(*map(_bodies, some)) - set().union(*map(_bodies, others))
    return {name.removesuffix(_BODY): calls for name, calls in _imports(some[0], own).items()}


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
