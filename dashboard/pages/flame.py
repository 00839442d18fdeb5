"""The page of a differential flame graph: where the work of a build, or of an import, went."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from dashboard.drawing.flame import LONGEST_NAME, OTHER, Stacks, flame_picture, flame_tree
from dashboard.drawing.panels import Table
from observatory.text import units
from observatory.text.plain import clean, shorten

_FUNCTIONS = 30


def flame_page(
    base: Stacks, head: Stacks, *, labels: tuple[str, str], title: str, unit: str = "calls",
    sentence: str = "",
) -> dict[str, Any]:  # fmt: skip
    """Return the values of `flame.html.j2`.

    ``labels`` name BASE and HEAD; ``unit`` is "calls" or "seconds"; ``sentence`` says what grew.
    """
    base, head = list(base), list(head)
    return {
        "title": shorten(title, 200), "sentence": clean(sentence),
        "labels": [shorten(label, 60) for label in labels],
        "flame": flame_picture(flame_tree(base, head), unit),
        "functions": _functions(_own(base), _own(head), unit),
    }  # fmt: skip


def _own(stacks: Stacks) -> Mapping[str, float]:
    """The own weight of each function, over all chains of callers."""
    found: dict[str, float] = defaultdict(float)
    for names, weight in stacks:
        if names and names[-1] != OTHER:
            found[shorten(names[-1], LONGEST_NAME)] += weight
    return found


def _functions(base: Mapping[str, float], head: Mapping[str, float], unit: str) -> Table:
    """The functions whose own weight changed most."""
    both = {name: (base.get(name, 0), head.get(name, 0)) for name in base.keys() | head.keys()}
    changed = [(name, *sides) for name, sides in both.items() if sides[0] != sides[1]]
    changed.sort(key=lambda row: (-abs(row[2] - row[1]), row[0]))
    rows = tuple(
        (name, units.human(before, unit), units.human(after, unit),
         units.difference(before, after, unit))
        for name, before, after in changed[:_FUNCTIONS]
    )  # fmt: skip
    caption = f"{units.count(len(changed))} functions with other own {unit}, largest change first"
    return Table(caption, ("function", "before", "after", "change"), rows)
