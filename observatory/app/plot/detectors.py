"""The picture of `observatory evaluate-detector`: what detectors find, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from observatory.decide.evaluation import STEPS, Rates

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Okabe & Ito: told apart by the colour-blind too."""
_MARKS = "osD^vP"


def draw(found: Sequence[Rates], path: Path) -> None:
    """Recall by size of the step, and false alarms beside it; the format is the file's ending."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    recall, false = figure.subplots(1, 2, width_ratios=(3, 2))
    steps = [100 * (step - 1) for step in STEPS]
    for number, one in enumerate(found):
        colour, mark = _COLOURS[number % len(_COLOURS)], _MARKS[number % len(_MARKS)]
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
    recall.legend(frameon=False, loc="lower right")
    false.set(xlabel="series with a false alarm, of 1000", title="False alarms")
    false.margins(x=0.15)
    false.invert_yaxis()
    for axes in (recall, false):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)
