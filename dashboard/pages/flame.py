"""The page of a differential flame graph: where the work of a build, or of an import, went."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dashboard.drawing.flame import OTHER, Frame, Stacks, flame_picture, flame_tree
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
    frames = flame_tree(base, head)
    return {
        "title": shorten(title, 200), "sentence": clean(sentence),
        "labels": [shorten(label, 60) for label in labels],
        "flame": flame_picture(frames, unit), "functions": _functions(frames, unit),
    }  # fmt: skip


def _functions(frames: Sequence[Frame], unit: str) -> Table:
    """The functions whose own weight changed most, over all chains of callers."""
    own: dict[str, tuple[float, float]] = {}
    for frame in frames:
        base, head = own.get(frame.name, (0, 0))
        own[frame.name] = base + frame.own[0], head + frame.own[1]
    changed = {
        name: head - base for name, (base, head) in own.items() if name != OTHER and head != base
    }
    ordered = sorted(changed, key=lambda name: (-abs(changed[name]), name))
    rows = tuple(
        (name, *(units.human(side, unit) for side in own[name]),
         units.difference(*own[name], unit))
        for name in ordered[:_FUNCTIONS]
    )  # fmt: skip
    caption = f"{units.count(len(ordered))} functions with other own {unit}, largest change first"
    return Table(caption, ("function", "before", "after", "change"), rows)
