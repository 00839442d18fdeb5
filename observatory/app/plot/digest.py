"""The picture of a digest: a bar for each change, by its size."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from observatory.app.plot import style
from observatory.dashboard.colours import tokens
from observatory.errors import SelectionError
from observatory.text.plain import shorten
from observatory.text.units import signed

_MOST = 15
_LONGEST_NAME = 45


@style.styled
def digest(bars: Sequence[tuple[str, float]]) -> Figure:
    """The largest changes in per cent, worse ones to the right. Raises SelectionError for none.

    ``bars``: the label of each change, and its ratio of new to old.
    """
    if not bars:
        raise SelectionError("no change has a size, so there is nothing to draw")
    largest = sorted(bars, key=lambda bar: -max(bar[1], 1 / bar[1]))[:_MOST]
    ordered = sorted(largest, key=lambda bar: bar[1])
    figure = Figure(figsize=(8, 1.1 + 0.32 * len(ordered)), layout="constrained")
    ax = style.axes_or_new(figure.subplots())
    sizes = [100 * (ratio - 1) for _, ratio in ordered]
    colours = [tokens()["bad" if size > 0 else "good"] for size in sizes]
    drawn = ax.barh(range(len(sizes)), sizes, color=colours)
    ax.bar_label(drawn, [signed(ratio) for _, ratio in ordered], padding=3)
    ax.set_yticks(range(len(ordered)), [shorten(name, _LONGEST_NAME) for name, _ in ordered])
    ax.axvline(0, color=tokens()["edge"], linewidth=0.8)
    ax.margins(x=0.3)
    ax.set(xlabel="change, %")
    figure.suptitle("What got better (left) and worse (right)", x=0.01, ha="left")
    return figure
