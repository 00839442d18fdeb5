"""A picture with a row for each graph of many: what is counted of it, by subject."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from observatory.app.plot import style
from observatory.dashboard.colours import tokens
from observatory.errors import SelectionError
from observatory.text import units

_THICK = 0.8
"""How much of a row its bars take."""


@style.styled
def graphs(
    rows: pd.DataFrame, *, title: str = "", log: bool = False, ax: Axes | None = None
) -> Axes:
    """What is counted of each graph, with a bar for each subject.

    Args:
        rows: The frame of `observatory.app.graphs`.
        title: Stands above the picture; the cell if it is empty.
        log: Whether the scale is logarithmic; it begins at 1 then.
        ax: Axes to draw on; new ones if None.

    Returns:
        The Axes. A graph of which nothing is counted has a word in place of its bar: what became
        of it. The number follows the bar.

    Raises:
        SelectionError: The frame has no rows.

    """
    if rows.empty:
        raise SelectionError("there is no graph to draw")
    rows = rows.assign(name=_names(rows))
    names, subjects = list(dict.fromkeys(rows["name"])), list(dict.fromkeys(rows["subject"]))
    thick = _THICK / len(subjects)
    ax = style.axes_or_new(ax, 7.0, 1.0 + (0.1 + 0.125 * len(subjects)) * len(names))
    known = rows.set_index(["subject", "name"])
    colours = [tokens()[f"s{number % 8}"] for number in range(len(subjects))]
    for number, subject in enumerate(subjects):
        ax.plot([], [], "s", color=colours[number], label=f"{subject} ")
        for place, name in enumerate(names):
            if (subject, name) not in known.index:
                continue
            value, fate = known.loc[(subject, name), ["value", "fate"]].to_numpy()
            at = place + (number + 0.5) * thick - _THICK / 2
            said = str(fate) if pd.isna(value) else units.human(float(value), "")
            width = 0.0 if pd.isna(value) else float(value)
            ax.barh(at, width, height=thick * 0.9, color=colours[number])
            ax.annotate(
                said, (width, at), xytext=(3, 0), textcoords="offset points", va="center",
                fontsize=7, color=tokens()["ink" if fate == "counted" else "ink-2"],
            )  # fmt: skip
    ax.set_yticks(range(len(names)), names, fontsize=9)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_xscale("log" if log else "linear")
    ax.margins(x=0.12)
    ax.set_xlim(left=1 if log else 0)
    ax.set_xticks([], minor=False)
    ax.set_xticks([], minor=True)
    ax.spines["bottom"].set_visible(False)
    style.legend_above(ax, title or str(rows.attrs.get("cell", "")))
    return ax


def _names(rows: pd.DataFrame) -> list[str]:
    """The name of each row's place: the graph, and what is counted where that is not one thing."""
    nouns: dict[str, list[str]] = {}
    for graph, counted in zip(rows["graph"], rows["counted"], strict=True):
        nouns.setdefault(graph, [])
        if counted and counted not in nouns[graph]:
            nouns[graph].append(counted)
    if len({one for own in nouns.values() for one in own}) < 2:
        return list(rows["graph"])
    return [
        f"{graph}: {counted or ', '.join(nouns[graph][:1])}".removesuffix(": ")
        for graph, counted in zip(rows["graph"], rows["counted"], strict=True)
    ]
