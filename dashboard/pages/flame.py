"""Differential flame graphs: where the work of a build went, in calls and in seconds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from observatory import tool_version
from observatory.analyze.profiles.cells import CellProfile, Unit, units_of
from observatory.benchmarks.catalogue import Cell
from observatory.benchmarks.profiles import OTHER
from observatory.dashboard.drawing.flame import (
    LONGEST_NAME,
    MOST,
    Stacks,
    bytes_of,
    flame_picture,
    flame_tree,
)
from observatory.dashboard.drawing.panels import Table
from observatory.dashboard.rendering import alone
from observatory.text import units
from observatory.text.plain import begun, shorten
from observatory.text.profiles import difference_sentence

_FUNCTIONS = 30
_SIZES = (MOST, 1300, 1100, 900, 700, 500, 300, 100)
"""Numbers of frames of each graph, of which the first is taken that fits."""
_ROOM = 190_000
"""Bytes of the graphs of a page. Styles, scripts and tables take 55,000 more if they are in it."""
SCRIPTS = ("alone.js", "units.js", "flame.js")


def flame_values(
    cell: Cell, labels: tuple[str, str], base: CellProfile, head: CellProfile
) -> dict[str, Any]:
    """The values of `_flame.html.j2` for one cell of BASE and HEAD; both may be one profile.

    There is a graph for each unit in which both have a profile.
    """
    both = (base, head)
    sides = {unit: (base.stacks(unit, both), head.stacks(unit, both)) for unit in units_of(*both)}
    compared = base is not head
    old, new = (shorten(label, 60) for label in labels)
    return {
        "title": f"{cell}: {new} against {old}" if compared else f"{cell}: {new}",
        "sentence": begun(difference_sentence(base, head), 1000) if compared else "",
        "labels": (old, new),
        "compared": compared,
        "graphs": fitting(sides),
    }


def fitting(sides: Mapping[Unit, tuple[Stacks, Stacks]]) -> list[dict[str, Any]]:
    """A graph for each unit, with as many frames as a page has room for."""
    of_units = [(list(base), list(head), unit) for unit, (base, head) in sides.items()]
    for most in _SIZES:
        graphs = [graph(*one, most) for one in of_units]
        if sum(bytes_of(one["picture"]) for one in graphs) <= _ROOM:
            break
    return graphs


def graph(base: Stacks, head: Stacks, unit: str, most: int = MOST) -> dict[str, Any]:
    """One graph, and the table of the functions whose own weight changed most.

    ``most``: the largest number of frames that are kept.
    """
    base, head = list(base), list(head)
    return {
        "picture": flame_picture(flame_tree(base, head, most), unit, most),
        "table": _table(_own(base), _own(head), unit),
    }


def flame_file(cell: Cell, labels: tuple[str, str], base: CellProfile, head: CellProfile) -> bytes:
    """The page as one file, which needs no other."""
    values = {"flame": flame_values(cell, labels, base, head), "version": tool_version()}
    return alone("flame_alone.html", values, SCRIPTS)


def _own(stacks: Stacks) -> Mapping[str, float]:
    """The own weight of each function, over all chains of callers."""
    found: dict[str, float] = defaultdict(float)
    for names, weight in stacks:
        if names and names[-1] != OTHER:
            found[shorten(names[-1], LONGEST_NAME)] += weight
    return found


def _table(base: Mapping[str, float], head: Mapping[str, float], unit: str) -> Table:
    """The names whose own weight changed most; if none did, those with the largest."""
    both = {name: (base.get(name, 0), head.get(name, 0)) for name in base.keys() | head.keys()}
    changed = {name: sides for name, sides in both.items() if sides[0] != sides[1]}
    ordered = sorted(
        (changed or both).items(),
        key=lambda item: (-abs(item[1][1] - item[1][0]), -item[1][1], item[0]),
    )
    rows = tuple(
        (name, units.human(before, unit), units.human(after, unit),
         units.difference(before, after, unit))
        for name, (before, after) in ordered[:_FUNCTIONS]
    )  # fmt: skip
    noun = "phase" if unit == "seconds" else "function"
    many = units.count(len(ordered))
    caption = f"{many} {noun}s with other own {unit}, largest change first"
    if not changed:
        caption = f"{many} {noun}s, most own {unit} first"
    return Table(caption, (noun, "before", "after", "change"), rows)
