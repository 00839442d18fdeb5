"""A comparison of two subjects: what changed, cell by cell, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from observatory.analyze.series_keys import SelectionError
from observatory.app.plot.style import (
    axes_or_new,
    labelled,
    legend_above,
    scale_of,
    signed,
    styled,
    tokens,
)
from observatory.store.records.comparison import Comparison, Conclusion, Verdict
from observatory.text import units

_COLOURS: dict[Conclusion, str] = {
    "worse": "bad", "better": "good", "unaffected": "ink-2", "workload changed": "link",
    "undecided": "unknown",
}  # fmt: skip


@styled
def compare(
    comparison: Comparison,
    *,
    metric: str = "compile_time",
    most: int = 30,
    ax: Axes | None = None,
) -> Axes:
    """One metric of two subjects: the change of each cell with its interval.

    Args:
        comparison: What `observatory.app.compare` returns, or a file of ``compare --json``.
        metric: Which verdicts are drawn.
        most: How many cells are drawn, those that changed most first.
        ax: Axes to draw on; new ones if None.

    Returns:
        The Axes. For times and sizes a mark is the ratio HEAD over BASE, and a line its interval; a
        hollow mark has none, because there are too few values. A pale band is the minimum effect,
        below which nothing is called a change. For counts a hollow mark is BASE and a full one
        HEAD. The medians of both are at the right.

    Raises:
        SelectionError: The comparison has no verdict on this metric.

    """
    verdicts = [v for v in comparison.verdicts if v.metric == metric and _drawable(v)]
    if not verdicts:
        known = sorted({verdict.metric for verdict in comparison.verdicts if _drawable(verdict)})
        raise SelectionError(f"nothing is said of {metric!r}; there is {', '.join(known)}")
    verdicts = sorted(verdicts, key=_size, reverse=True)[:most]
    ax = axes_or_new(ax, 7.5, 1.5 + 0.3 * len(verdicts))
    if any(_ratio(verdict) is not None for verdict in verdicts):
        _ratios(ax, verdicts)
        ax.set_xlabel(f"change of {metric.replace('_', ' ')}")
    else:
        _counts(ax, verdicts)
        ax.set_xlabel(labelled(metric, verdicts[0].unit))
    _cells(ax, verdicts)
    _legend(ax, verdicts)
    legend_above(ax, f"{comparison.base.subject.label} → {comparison.head.subject.label}")
    return ax


def _drawable(verdict: Verdict) -> bool:
    return bool(verdict.base.values and verdict.head.values)


def _size(verdict: Verdict) -> float:
    """How large a change is, to sort by."""
    ratio = _ratio(verdict)
    if ratio is not None:
        return abs(math.log(ratio))
    return abs(median(verdict.head.values) - median(verdict.base.values))


def _ratio(verdict: Verdict) -> float | None:
    """HEAD over BASE: the estimate, or that of the medians where there are too few values."""
    if verdict.kind == "exact":
        return None
    if verdict.ratio is not None:
        return verdict.ratio.estimate
    base, head = median(verdict.base.values), median(verdict.head.values)
    return head / base if min(base, head) > 0 else None


def _ratios(ax: Axes, verdicts: Sequence[Verdict]) -> None:
    ax.axvline(1, color=tokens()["edge"], linewidth=1, zorder=1)
    for place, verdict in enumerate(verdicts):
        ratio = _ratio(verdict)
        if ratio is None:
            continue
        colour = tokens()[_COLOURS[verdict.conclusion]]
        ax.plot(ratio, place, "o", color=colour, zorder=3,
                markerfacecolor=colour if verdict.ratio else "white")  # fmt: skip
        if verdict.minimum_effect:
            least = verdict.minimum_effect
            ax.barh(place, 1 + least - 1 / (1 + least), left=1 / (1 + least), height=0.8,
                    color=tokens()["rule-2"], zorder=0)  # fmt: skip
        if verdict.ratio is not None:
            low, high = max(verdict.ratio.low, 1e-9), verdict.ratio.high
            ax.hlines(place, low, high, color=colour, linewidth=2, zorder=2)
    low, high = ax.get_xlim()
    if low <= 0 or high / low > 3:
        ax.set_xscale("log")
        low, high = ax.get_xlim()
        subs = (1, 2, 5) if high / low < 1000 else (1,)
        ax.xaxis.set_major_locator(LogLocator(subs=subs, numticks=12))
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.xaxis.set_tick_params(which="minor", length=0)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda ratio, _: signed(ratio - 1)))
    ax.grid(visible=True, axis="x", color=tokens()["rule"], linewidth=0.8)


def _counts(ax: Axes, verdicts: Sequence[Verdict]) -> None:
    for place, verdict in enumerate(verdicts):
        colour = tokens()[_COLOURS[verdict.conclusion]]
        base, head = median(verdict.base.values), median(verdict.head.values)
        ax.hlines(place, min(base, head), max(base, head), color=colour, linewidth=2, zorder=2)
        ax.plot(base, place, "o", color=colour, markerfacecolor="white", zorder=3)
        ax.plot(head, place, "o", color=colour, zorder=4)
    ax.set_xlim(left=min(0.0, ax.get_xlim()[0]))
    scale_of(ax.xaxis, verdicts[0].unit, log=False)


def _cells(ax: Axes, verdicts: Sequence[Verdict]) -> None:
    """The names of the cells at the left, the medians of both sides at the right."""
    cells = [verdict.cell for verdict in verdicts]
    several = len({cell.model for cell in cells}) > 1
    names = [
        f"{cell.model + ' ' if several else ''}{cell.scenario} {cell.backend} {cell.launch}"
        for cell in cells
    ]
    ax.set_yticks(range(len(verdicts)), names)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(verdicts) - 0.4, -0.6)
    for place, verdict in enumerate(verdicts):
        change = units.change(
            median(verdict.base.values), median(verdict.head.values), verdict.unit
        )
        ax.annotate(change, (1, place), xycoords=("axes fraction", "data"), xytext=(8, 0),
                    textcoords="offset points", va="center", fontsize=9,
                    color=tokens()["ink"])  # fmt: skip


def _legend(ax: Axes, verdicts: Sequence[Verdict]) -> None:
    there = [c for c in _COLOURS if any(verdict.conclusion == c for verdict in verdicts)]
    for conclusion in there:
        ax.plot([], [], "o", color=tokens()[_COLOURS[conclusion]], label=conclusion)
