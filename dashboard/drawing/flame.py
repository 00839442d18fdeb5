"""A differential flame graph: two profiles as one tree, and where each of its frames is drawn."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from markupsafe import escape

from observatory.benchmarks.profiles import OTHER
from observatory.text import units
from observatory.text.plain import shorten

Stacks = Iterable[tuple[Sequence[str], float]]
"""Chains of callers, the outermost first, each with the weight of its last function alone."""

ROW = 18
"""Height of a frame in pixels; `flame.js` has it too."""
MOST = 1500
_DRAWN = 1 / 3
"""Of the frames that are kept, the share that is drawn without a script."""
_BOX = 190
"""Bytes of a box without its texts."""
_NARROWEST = 0.001
LONGEST_NAME = 120
_AFTER_MODULE = re.compile(":(?! )")
"""A colon before a space is part of the name of a phase."""
_MARKS = {"m": "▲ ", "l": "▼ "}
_LEVELS = (0.0001, 0.001, 0.01)
"""From these shares of the whole on, a change has the colour of level 1, 2 or 3."""


@dataclass(eq=False)
class Frame:
    """One function in one chain of callers, in BASE and in HEAD."""

    name: str
    own: tuple[float, float] = (0, 0)
    """Weight without callees, in BASE and in HEAD."""
    callees: dict[str, Frame] = field(default_factory=dict)
    total: tuple[float, float] = (0, 0)
    depth: int = 0
    left: float = 0
    """Where it begins, as a share of the whole of HEAD."""

    def callee(self, name: str) -> Frame:
        """Return the callee of this name, which is made if there is none."""
        return self.callees.setdefault(name, Frame(name))

    def add(self, base: float, head: float) -> None:
        """Add to its own weights."""
        self.own = self.own[0] + base, self.own[1] + head

    def description(self, unit: str) -> str:
        """Return the name and both weights in words; `flame.js` writes the same."""
        own, total = units.change(*self.own, unit), units.change(*self.total, unit)
        return f"{self.name}: own {own}, with callees {total}"


def flame_tree(base: Stacks, head: Stacks, most: int = MOST) -> list[Frame]:
    """Return both profiles as one tree, depth first, each frame before its callees.

    The ``most`` largest frames are kept; the rest is summed into `OTHER` of their callers. Names
    are made safe to show. Weights are not negative.
    """
    shown = cache(lambda name: shorten(name, LONGEST_NAME))
    root = Frame("(all)")
    for stacks, base_share, head_share in ((base, 1, 0), (head, 0, 1)):
        for names, weight in stacks:
            frame = root
            for name in names:
                frame = frame.callee(shown(name))
            frame.add(base_share * weight, head_share * weight)
    if len(root.callees) == 1 and not any(root.own):
        (root,) = root.callees.values()
    kept = set(sorted(_placed(root), key=lambda frame: -max(frame.total))[:most])
    for frame in kept:
        small = [callee for callee in frame.callees.values() if callee not in kept]
        frame.callees = {name: one for name, one in frame.callees.items() if one in kept}
        for callee in small:
            frame.callee(OTHER).add(*callee.total)
    return _placed(root)


def _placed(root: Frame) -> list[Frame]:
    """Return all frames, depth first and callees by name, with their sums and places set."""
    order: list[Frame] = []
    pending = [root]
    while pending:
        frame = pending.pop()
        order.append(frame)
        for name in sorted(frame.callees, reverse=True):
            frame.callees[name].depth = frame.depth + 1
            pending.append(frame.callees[name])
    for frame in reversed(order):
        sides = zip(*(one.total for one in frame.callees.values()), strict=True)
        below = [sum(side) for side in sides] or [0, 0]
        frame.total = frame.own[0] + below[0], frame.own[1] + below[1]
    for frame in order:
        left = frame.left
        for name in sorted(frame.callees):
            frame.callees[name].left = left
            left += frame.callees[name].total[1] / (root.total[1] or 1)
    return order


def flame_picture(frames: Sequence[Frame], unit: str, most: int = MOST) -> dict[str, object]:
    """Return the values of the macro in `_flame.html.j2`.

    ``boxes`` are the widest frames of HEAD, a third of ``most``, drawn without a script. ``names``
    and ``rows`` are the whole tree for `flame.js`: depth, number of the name, own weights in BASE
    and in HEAD.
    """
    whole = frames[0].total
    wide = [frame for frame in frames if frame.total[1] > _NARROWEST * whole[1]]
    drawn = set(sorted(wide, key=lambda frame: -frame.total[1])[: round(_DRAWN * most)])
    names = {name: number for number, name in enumerate(sorted({one.name for one in frames}))}
    rows = (f"{one.depth} {names[one.name]} {one.own[0]:.12g} {one.own[1]:.12g}" for one in frames)
    return {
        "unit": unit,
        "whole": units.change(*whole, unit),
        "names": "\n".join(names),
        "rows": "\n".join(rows),
        "height": ROW * (1 + max((frame.depth for frame in drawn), default=0)),
        "boxes": list(_boxes([frame for frame in frames if frame in drawn], unit, whole)),
    }


def bytes_of(picture: Mapping[str, Any]) -> int:
    """About how many bytes a picture takes in a page."""
    texts = [picture["names"], picture["rows"]]
    texts += [box[text] for box in picture["boxes"] for text in ("about", "label")]
    return sum(len(escape(one).encode()) for one in texts) + _BOX * len(picture["boxes"])


def _boxes(
    frames: Iterable[Frame], unit: str, whole: tuple[float, float]
) -> Iterator[dict[str, object]]:
    for frame in frames:
        width = 100 * frame.total[1] / whole[1]
        css = change_class(frame.own[1] - frame.own[0], max(whole))
        short = _AFTER_MODULE.split(frame.name)[-1] or frame.name
        yield {
            "x": f"{100 * frame.left:.3f}", "y": ROW * frame.depth, "width": f"{width:.3f}",
            "css": css, "about": frame.description(unit),
            "label": _MARKS.get(css[:1], "") + short if width > 2 else "",
        }  # fmt: skip


def change_class(change: float, whole: float) -> str:
    """Return the class of a change: "m3" for much more, "l1" for little less, "" for none.

    >>> change_class(5, 100), change_class(-0.05, 100), change_class(0, 0)
    ('m3', 'l1', '')
    """
    level = sum(abs(change) >= share * whole for share in _LEVELS) if change else 0
    return f"{'m' if change > 0 else 'l'}{level}" if level else ""
