"""The picture of a digest: a bar for each change, by its size."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from observatory.app.plot import style
from observatory.errors import SelectionError
from observatory.store.records.alerts import SeriesChange
from observatory.text.plain import shorten

_MOST = 15
_LONGEST_NAME = 48


@style.styled
def digest(changes: Sequence[SeriesChange]) -> Figure:
    """The largest changes in per cent, worse ones to the right. Raises SelectionError for none."""
    if not changes:
        raise SelectionError("nothing of a size changed, so that there is nothing to draw")
    largest = sorted(changes, key=lambda one: -max(_size(one), 1 / _size(one)))[:_MOST]
    ordered = sorted(largest, key=_size)
    figure = Figure(figsize=(8, 1.1 + 0.32 * len(ordered)), layout="constrained")
    ax = style.axes_or_new(figure.subplots())
    sizes = [100 * (_size(one) - 1) for one in ordered]
    names = [
        shorten(f"{one.benchmark} {one.metric}, {one.first_bad.label}", _LONGEST_NAME)
        for one in ordered
    ]
    colours = [style.tokens()["bad" if size > 0 else "good"] for size in sizes]
    bars = ax.barh(range(len(sizes)), sizes, color=colours)
    ax.bar_label(bars, [f"{size:+.2g} %" for size in sizes], padding=3)
    ax.set_yticks(range(len(names)), names)
    ax.axvline(0, color=style.tokens()["edge"], linewidth=0.8)
    ax.margins(x=0.18)
    ax.set(xlabel="change, %", title="What got worse (right) and better (left)")
    return figure


def _size(one: SeriesChange) -> float:
    return one.after / one.before if one.ratio is None else one.ratio
