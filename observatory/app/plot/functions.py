"""Compiled functions: how long each took, and whether the cache had it."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from observatory.analyze.series_keys import SelectionError
from observatory.app.plot.style import axes_or_new, legend_above, scale_of, styled, tokens
from observatory.text.plain import shorten

_COLOURS = {"hit": "good", "miss": "bad", "uncacheable": "numba", "internal": "other"}
_LONGEST_NAME = 40


@styled
def ledger(functions: pd.DataFrame, *, most: int = 15, ax: Axes | None = None) -> Axes:
    """The slowest compiled functions of a cell, by name, coloured by what the cache said.

    Args:
        functions: The frame of `observatory.app.ledger`.
        most: How many names are drawn; the others are one bar.
        ax: Axes to draw on; new ones if None.

    Returns:
        The Axes: a bar for each name, in seconds, stacked by outcome; the number of functions is
        behind the name.

    Raises:
        SelectionError: The frame has no rows, or ``most`` is below 1.

    """
    if functions.empty or most < 1:
        raise SelectionError("there is no function to draw")
    seconds = functions.pivot_table(
        index="function", columns="outcome", values="seconds", aggfunc="sum", fill_value=0.0
    )
    counts = functions.groupby("function")["count"].sum()
    order = seconds.sum(axis="columns").sort_values(ascending=False, kind="stable").index
    shown, rest = list(order[:most]), list(order[most:])
    labels = [f"{shorten(name, _LONGEST_NAME)}  ({counts[name]:,})" for name in shown]
    bars = seconds.loc[shown]
    if rest:
        labels.append(f"{len(rest)} other names  ({counts[rest].sum():,})")
        bars = pd.concat([bars, seconds.loc[rest].sum().to_frame("rest").T])
    ax = axes_or_new(ax, 7.0, 1.2 + 0.27 * len(bars))
    places = range(len(bars))
    left = pd.Series(0.0, index=bars.index)
    for outcome in (name for name in _COLOURS if name in bars):
        number = functions.loc[functions["outcome"] == outcome, "count"].sum()
        ax.barh(
            places, bars[outcome], left=left, height=0.7, color=tokens()[_COLOURS[outcome]],
            label=f"{outcome} ({number:,})",
        )  # fmt: skip
        left = left + bars[outcome]
    ax.set_yticks(places, labels)
    ax.tick_params(axis="y", length=0)
    ax.invert_yaxis()
    scale_of(ax.xaxis, "seconds", log=False)
    ax.set_xlabel("time to compile or load")
    cell = functions.attrs.get("cell", "")
    ax.margins(y=0.02)
    legend_above(ax, f"{functions.attrs.get('subject', '')}  {cell}".strip())
    return ax
