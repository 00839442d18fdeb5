"""The picture of `observatory evaluate-detector`: what detectors find, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from observatory.analyze.detectors import STEPS, Rates
from observatory.app.plot.style import axes_or_new, styled, tokens

_MARKS = "osD^vP*X"


@styled
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
        axes_or_new(axes)
    return figure
