"""Pictures with a row for each cell of a comparison, each function, or each detector."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from observatory.analyze.detectors import STEPS, Rates
from observatory.app.plot import style
from observatory.benchmarks.catalogue import no_such
from observatory.dashboard.colours import tokens
from observatory.errors import SelectionError
from observatory.store.records.comparison import Comparison, Conclusion, Verdict
from observatory.text import units
from observatory.text.plain import shorten

_COLOURS: dict[Conclusion, str] = {
    "worse": "bad", "better": "good", "unaffected": "ink-2", "workload changed": "link",
    "undecided": "unknown",
}  # fmt: skip
_OUTCOMES = {"hit": "good", "miss": "bad", "uncacheable": "numba", "internal": "other"}
_LONGEST_NAME = 40
_MARKS = "osD^vP*X"


@style.styled
def compare(
    comparison: Comparison, *, metric: str = "compile_time", most: int = 30, ax: Axes | None = None
) -> Axes:
    """One metric of two subjects: the change of each cell with its interval.

    Args:
        comparison: What `observatory.app.compare` returns, or a file of ``compare --json``.
        metric: The metric.
        most: Largest number of cells; those that changed most are drawn.
        ax: Axes to draw on; new ones if None.

    Returns:
        The Axes. For times and sizes, a mark is the ratio HEAD over BASE and a line its interval; a
        hollow mark has too few values for an interval. A pale band is the minimum effect. For
        counts, a hollow mark is BASE and a full one HEAD. The medians are at the right.

    Raises:
        SelectionError: The comparison has no verdict on this metric.

    """
    verdicts = [v for v in comparison.verdicts if v.metric == metric and _drawable(v)]
    if not verdicts:
        known = sorted({verdict.metric for verdict in comparison.verdicts if _drawable(verdict)})
        raise SelectionError(f"in this comparison {no_such('metric', metric, known)}")
    verdicts = sorted(verdicts, key=_size, reverse=True)[:most]
    ax = style.axes_or_new(ax, 7.5, 1.5 + 0.3 * len(verdicts))
    if any(_ratio(verdict) is not None for verdict in verdicts):
        _ratios(ax, verdicts)
        ax.set_xlabel(f"change of {metric.replace('_', ' ')}")
    else:
        _counts(ax, verdicts)
        ax.set_xlabel(style.labelled(metric, verdicts[0].unit))
    _cells(ax, verdicts)
    for conclusion, colour in _COLOURS.items():
        if any(verdict.conclusion == conclusion for verdict in verdicts):
            ax.plot([], [], "o", color=tokens()[colour], label=conclusion)
    style.legend_above(ax, f"{comparison.base.subject.label} → {comparison.head.subject.label}")
    return ax


def _drawable(verdict: Verdict) -> bool:
    return bool(verdict.base.values and verdict.head.values)


def _size(verdict: Verdict) -> float:
    """How large a change is, to sort by; a ratio with a 0 is larger than all others."""
    difference = abs(median(verdict.head.values) - median(verdict.base.values))
    if verdict.kind == "exact":
        return difference
    ratio = _ratio(verdict)
    if ratio:
        return abs(math.log(ratio))
    return math.inf if difference else 0.0


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
        style.logarithmic(ax.xaxis, 1000.0)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda ratio, _: style.signed(ratio - 1)))
    ax.grid(visible=True, axis="x", color=tokens()["rule"], linewidth=0.8)


def _counts(ax: Axes, verdicts: Sequence[Verdict]) -> None:
    for place, verdict in enumerate(verdicts):
        colour = tokens()[_COLOURS[verdict.conclusion]]
        base, head = median(verdict.base.values), median(verdict.head.values)
        ax.hlines(place, min(base, head), max(base, head), color=colour, linewidth=2, zorder=2)
        ax.plot(base, place, "o", color=colour, markerfacecolor="white", zorder=3)
        ax.plot(head, place, "o", color=colour, zorder=4)
    ax.set_xlim(left=min(0.0, ax.get_xlim()[0]))
    style.scale_of(ax.xaxis, verdicts[0].unit)


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


@style.styled
def ledger(functions: pd.DataFrame, *, most: int = 15, ax: Axes | None = None) -> Axes:
    """The slowest compiled functions of a cell, by name, coloured by outcome.

    Args:
        functions: The frame of `observatory.app.ledger`.
        most: Largest number of names; all others are one bar.
        ax: Axes to draw on; new ones if None.

    Returns:
        The Axes: a bar for each name, in seconds, stacked by outcome. The number of functions
        follows the name.

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
    ax = style.axes_or_new(ax, 7.0, 1.2 + 0.27 * len(bars))
    places = range(len(bars))
    left = pd.Series(0.0, index=bars.index)
    for outcome in (name for name in _OUTCOMES if name in bars):
        number = functions.loc[functions["outcome"] == outcome, "count"].sum()
        ax.barh(
            places, bars[outcome], left=left, height=0.7, color=tokens()[_OUTCOMES[outcome]],
            label=f"{outcome} ({number:,})",
        )  # fmt: skip
        left = left + bars[outcome]
    ax.set_yticks(places, labels)
    ax.tick_params(axis="y", length=0)
    ax.invert_yaxis()
    style.scale_of(ax.xaxis, "seconds")
    ax.set_xlabel("time to compile or load")
    cell = functions.attrs.get("cell", "")
    ax.margins(y=0.02)
    style.legend_above(ax, f"{functions.attrs.get('subject', '')}  {cell}".strip())
    return ax


@style.styled
def detectors(found: Sequence[Rates]) -> Figure:
    """The share of steps found by size of the step, and beside it the false alarms; a figure."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    recall, false = figure.subplots(1, 2, width_ratios=(3, 2))
    steps = [100 * (step - 1) for step in STEPS]
    for number, one in enumerate(found):
        colour, mark = tokens()[f"s{number % 8}"], _MARKS[number % len(_MARKS)]
        shares = [100 * one.recall(step) for step in STEPS]
        recall.plot(steps, shares, color=colour, marker=mark, label=f"{one.detector} ")
        false.barh(one.detector, one.false_series_per_1000, color=colour)
        false.annotate(
            f" {one.false_series_per_1000:.0f}", (one.false_series_per_1000, number), va="center"
        )
    recall.set(
        xlabel="step put in, %", ylabel="found within 5 values, % of series", ylim=(0, 102),
        xticks=steps, title="Steps found",
    )  # fmt: skip
    recall.legend(loc="lower right")
    false.set(xlabel="series with a false alarm, of 1000", title="False alarms")
    false.margins(x=0.15)
    false.invert_yaxis()
    for axes in (recall, false):
        style.axes_or_new(axes)
    return figure
