"""Values along the history: backends side by side, and series with their levels and steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from benchmarks.catalogue import MAIN_BACKENDS
from observatory.analyze.history.segments import SegmentedSeries
from observatory.analyze.series_keys import SelectionError
from observatory.app.plot.style import (
    axes_or_new,
    colour_of,
    colours,
    labelled,
    legend_beside,
    mark_of,
    scale_of,
    signed,
    styled,
    subjects_on,
    titled,
)
from observatory.text import units

_ROWS = 0.075
"""Height of a line of labels above the values, as a share of the axes."""


@styled
def history(
    rows: pd.DataFrame,
    *,
    metric: str = "compile_time",
    scenario: str = "warm_process",
    model: str = "radon",
    launch: str = "fork",
    machine: str | None = None,
    log: bool | None = None,
    ax: Axes | None = None,
) -> Axes:
    """One metric of each backend along the subjects, oldest first.

    Args:
        rows: The frame of `observatory.app.frame`.
        metric: What is drawn, in its unit.
        scenario: The cell, with the next two; its backends are the lines.
        model: See ``scenario``.
        launch: The start method.
        machine: Whose values; the machine with the most of them if None. Where it measured with
            several versions of Python, the one with the most values is drawn.
        log: Whether the scale is logarithmic; for seconds and bytes if None.
        ax: Axes to draw on; new ones if None.

    Returns:
        The Axes. A line breaks where a subject has no value; a pale bar is the 99 % interval of the
        median, where there are enough samples. The legend names the newest value.

    Raises:
        SelectionError: There is no such value.

    """
    chosen = rows[
        (rows["metric"] == metric) & (rows["scenario"] == scenario)
        & (rows["model"] == model) & (rows["launch"] == launch)
    ]  # fmt: skip
    if machine is not None:
        chosen = chosen[chosen["machine"] == machine]
    main = chosen[chosen["backend"].isin(MAIN_BACKENDS)]
    chosen = chosen if main.empty else main
    if chosen.empty:
        raise SelectionError(
            f"there is no {metric} of {model} {scenario} {launch}"
            + (f" on {machine}" if machine else "")
        )
    where, python = chosen[["machine", "python"]].value_counts().index[0]
    chosen = chosen[(chosen["machine"] == where) & (chosen["python"] == python)]
    chosen = chosen.sort_values("date", kind="stable")
    subjects = list(dict.fromkeys(chosen["subject"]))
    unit = str(chosen["unit"].iloc[0])
    ax = axes_or_new(ax)
    lines = []
    for backend, of_backend in chosen.groupby("backend", sort=False):
        values = of_backend.drop_duplicates("subject", keep="last").set_index("subject")
        lines.append((str(backend), values.reindex(subjects)))
    lines.sort(key=lambda line: -float(line[1]["value"].dropna().iloc[-1]))
    for backend, values in lines:
        _line(ax, backend, values, unit)
    positive = bool((chosen["value"] > 0).all())
    logarithmic = positive and (unit in ("seconds", "bytes") if log is None else log)
    if not logarithmic:
        ax.set_ylim(bottom=0)
    scale_of(ax.yaxis, unit, logarithmic)
    subjects_on(ax, subjects)
    ax.set_ylabel(labelled(metric, unit))
    titled(ax, f"{model}, {scenario}, start method {launch}", f"{where}, Python {python}")
    legend_beside(ax)
    return ax


def _line(ax: Axes, backend: str, values: pd.DataFrame, unit: str) -> None:
    places = np.arange(len(values))
    newest = float(values["value"].dropna().iloc[-1])
    colour = colour_of(backend)
    ax.plot(
        places, values["value"].to_numpy(float), color=colour, marker=mark_of(backend),
        markeredgecolor="white", markeredgewidth=0.7,
        label=f"{backend}  {units.human(newest, unit)}", clip_on=False, zorder=3,
    )  # fmt: skip
    told = values["ci_low"].notna().to_numpy()
    ax.vlines(
        places[told], values["ci_low"][told], values["ci_high"][told], color=colour, alpha=0.3,
        linewidth=4, zorder=2,
    )  # fmt: skip


@styled
def series(
    tracks: Sequence[SegmentedSeries], *, log: bool | None = None, ax: Axes | None = None
) -> Axes:
    """Series with their levels, and the size of each step from one level to the next.

    Args:
        tracks: What `observatory.app.series` returns: series of one metric and one machine.
        log: Whether the scale is logarithmic; for seconds and bytes if None.
        ax: Axes to draw on; new ones if None.

    Returns:
        The Axes: values as marks, levels as broad pale lines, a dashed line at each step with the
        change of the median in percent.

    Raises:
        SelectionError: There is no series, or they are of several units.

    """
    found = {track.series.place.unit for track in tracks}
    if len(found) != 1:
        raise SelectionError(
            f"series of one unit can be drawn together; these have {sorted(found) or 'no values'}"
        )
    (unit,) = found
    subjects = sorted({s for track in tracks for s in track.series.line.subjects},
                      key=lambda subject: (subject.date, subject.file))  # fmt: skip
    place_of = {subject: place for place, subject in enumerate(subjects)}
    ax = axes_or_new(ax)
    names = [_name(track, tracks) for track in tracks]
    backends = [track.series.place.backend for track in tracks]
    own = colours([backend or name for backend, name in zip(backends, names, strict=True)])
    labels: list[tuple[float, str, str]] = []
    for track, name, backend, colour in zip(tracks, names, backends, own, strict=True):
        places = np.array([place_of[track.series.subject(n)] for n in range(len(track.series.at))])
        ax.plot(places, track.series.values, color=colour, marker=mark_of(backend), label=name,
                markeredgecolor="white", markeredgewidth=0.7, zorder=3)  # fmt: skip
        if track.judgement != "judged":
            continue
        for start, stop in pairwise(track.bounds):
            ax.plot(places[start:stop], track.expected[start:stop], color=colour, alpha=0.28,
                    linewidth=7, solid_capstyle="butt", zorder=2)  # fmt: skip
        for step in track.bounds[1:-1]:
            change = track.expected[step] / track.expected[step - 1] - 1
            at = (places[step] + places[step - 1]) / 2
            ax.axvline(at, color=colour, linestyle=(0, (3, 3)), linewidth=1, zorder=1)
            labels.append((at, signed(change), colour))
    positive = all((track.series.values > 0).all() for track in tracks)
    logarithmic = positive and (unit in ("seconds", "bytes") if log is None else log)
    if not logarithmic:
        ax.set_ylim(bottom=0)
    _room(ax, _label_steps(ax, labels, len(subjects)), logarithmic)
    scale_of(ax.yaxis, unit, logarithmic)
    subjects_on(ax, [subject.label for subject in subjects])
    ax.set_ylabel(labelled(tracks[0].series.place.metric, unit))
    lines = dict.fromkeys(track.series.line.name for track in tracks)
    titled(ax, _shared(tracks), next(iter(lines)) if len(lines) == 1 else "")
    if len(tracks) > 1:
        legend_beside(ax)
    return ax


def _label_steps(ax: Axes, labels: Iterable[tuple[float, str, str]], subjects: int) -> int:
    """Write the sizes of steps at the top, so that none covers another; returns their rows."""
    rows: list[float] = []
    for at, text, colour in sorted(labels):
        width = 0.022 * len(text) * max(subjects, 1)
        row = next((n for n, end in enumerate(rows) if end <= at), len(rows))
        rows[row : row + 1] = [at + width]
        ax.annotate(
            text, (at, 1 - row * _ROWS), xycoords=("data", "axes fraction"), xytext=(4, 0),
            textcoords="offset points", va="top", color=colour, fontsize=9, fontweight="bold",
        )  # fmt: skip
    return len(rows)


def _room(ax: Axes, rows: int, log: bool) -> None:
    """Keep the values below the rows of labels."""
    low, high = ax.get_ylim()
    share = 1 / max(0.3, 1 - (rows + 0.3) * _ROWS) if rows else 1.0
    if log:
        low, high = ax.dataLim.intervaly[0] / 1.15, ax.dataLim.intervaly[1] * 1.15
        ax.set_ylim(low, low * (high / low) ** share)
    else:
        ax.set_ylim(low, low + (high - low) * share)


_WORDS = ("model", "scenario", "backend", "launch")


def _name(track: SegmentedSeries, tracks: Sequence[SegmentedSeries]) -> str:
    """The words in which a series differs from the others."""
    differ = [w for w in _WORDS if len({getattr(t.series.place, w) for t in tracks}) > 1]
    words = [getattr(track.series.place, word) for word in differ]
    lines = {other.series.line.name for other in tracks}
    words += [track.series.line.name] if len(lines) > 1 else []
    return " ".join(filter(None, words)) or track.series.benchmark


def _shared(tracks: Sequence[SegmentedSeries]) -> str:
    """The words that all series share."""
    words = {
        word: getattr(tracks[0].series.place, word)
        for word in _WORDS
        if len({getattr(t.series.place, word) for t in tracks}) == 1
    }
    if words.get("launch"):
        words["launch"] = f"start method {words['launch']}"
    return ", ".join(filter(None, words.values())) or tracks[0].series.benchmark
