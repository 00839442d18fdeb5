"""Values along the history: of several backends, or of series with levels and steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from observatory.analyze.history.segments import SegmentedSeries
from observatory.app.plot import style
from observatory.benchmarks.catalogue import MAIN_BACKENDS, no_such
from observatory.errors import SelectionError
from observatory.text import units

_WORDS = ("model", "scenario", "backend", "launch")
_MOST_SERIES = 12
_ROWS = 0.075
"""Height of a line of labels above the values, as a share of the axes."""


@style.styled
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
        metric: The metric, which is drawn in its unit.
        scenario: The cell, together with the next two. There is a line for each of its backends.
        model: See ``scenario``.
        launch: The start method.
        machine: The machine; by default the one with the most values. Of several versions of
            Python on it, the one with the most values is drawn.
        log: Whether the scale is logarithmic; by default it is for seconds and bytes.
        ax: Axes to draw on; new ones if None.

    Returns:
        The Axes. A line has a gap where a subject has no value. A pale bar is the 99 % interval of
        the median, if there are enough samples. The legend has the newest values.

    Raises:
        SelectionError: There is no such value.

    """
    known = list(dict.fromkeys(rows["metric"]))
    if metric not in known:
        raise SelectionError(no_such("metric", metric, known))
    chosen, where, python = _selected(rows, metric, (model, scenario, launch), machine)
    subjects = list(dict.fromkeys(chosen["subject"]))
    unit = str(chosen["unit"].iloc[0])
    ax = style.axes_or_new(ax)
    lines = []
    for backend, of_backend in chosen.groupby("backend", sort=False):
        values = of_backend.drop_duplicates("subject", keep="last").set_index("subject")
        lines.append((str(backend), values.reindex(subjects)))
    lines.sort(key=lambda line: -float(line[1]["value"].dropna().iloc[-1]))
    for backend, values in lines:
        _line(ax, backend, values, unit)
    logarithmic = style.is_log(log, unit, bool((chosen["value"] > 0).all()))
    if not logarithmic:
        ax.set_ylim(bottom=0)
    style.values_over_subjects(ax, subjects, metric, unit, logarithmic)
    style.titled(ax, f"{model}, {scenario}, start method {launch}", f"{where}, Python {python}")
    style.legend_beside(ax)
    return ax


def _selected(
    rows: pd.DataFrame, metric: str, cell: tuple[str, str, str], machine: str | None
) -> tuple[pd.DataFrame, str, str]:
    """The rows of one metric, with their machine and Python, oldest first.

    ``cell``: model, scenario and start method. Raises SelectionError if there are none.
    """
    chosen = rows[rows["metric"] == metric]
    for column, word in zip(("model", "scenario", "launch"), cell, strict=True):
        chosen = chosen[chosen[column] == word]
    if machine is not None:
        chosen = chosen[chosen["machine"] == machine]
    main = chosen[chosen["backend"].isin(MAIN_BACKENDS)]
    chosen = chosen if main.empty else main
    if chosen.empty:
        raise SelectionError(
            f"there is no {metric} of {' '.join(cell)}" + (f" on {machine}" if machine else "")
        )
    where, python = chosen[["machine", "python"]].value_counts().index[0]
    chosen = chosen[(chosen["machine"] == where) & (chosen["python"] == python)]
    return chosen.sort_values("date", kind="stable"), where, python


def _line(ax: Axes, backend: str, values: pd.DataFrame, unit: str) -> None:
    places = np.arange(len(values))
    newest = float(values["value"].dropna().iloc[-1])
    colour = style.colour_of(backend)
    ax.plot(
        places, values["value"].to_numpy(float), color=colour, marker=style.mark_of(backend),
        markeredgecolor="white", markeredgewidth=0.7,
        label=f"{backend}  {units.human(newest, unit)}", clip_on=False, zorder=3,
    )  # fmt: skip
    known = values["ci_low"].notna().to_numpy()
    ax.vlines(
        places[known], values["ci_low"][known], values["ci_high"][known], color=colour, alpha=0.3,
        linewidth=4, zorder=2,
    )  # fmt: skip


@style.styled
def series(
    tracks: Sequence[SegmentedSeries], *, log: bool | None = None, ax: Axes | None = None
) -> Axes:
    """Series with their levels, and the size of each step from one level to the next.

    Args:
        tracks: Series of one metric and one machine, as `observatory.app.series` returns them.
        log: Whether the scale is logarithmic; by default it is for seconds and bytes.
        ax: Axes to draw on; new ones if None.

    Returns:
        The Axes: values are marks, levels are broad pale lines, and a dashed line at each step has
        the change of the median in percent.

    Raises:
        SelectionError: There is no series, they have several units, or they are too many to tell
            apart.

    """
    if len(tracks) > _MOST_SERIES:
        raise SelectionError(
            f"{len(tracks)} series cannot be told apart in one picture, which draws at most "
            f"{_MOST_SERIES}; choose some of them by scenario, backend, launch, model or machine"
        )
    found = {track.series.place.unit for track in tracks}
    if len(found) != 1:
        units = " and ".join(sorted(found)) or "no values"
        raise SelectionError(
            f"only series with the same unit can be drawn together, and these have {units}; choose "
            "one metric"
        )
    (unit,) = found
    subjects = sorted({s for track in tracks for s in track.series.line.subjects},
                      key=lambda subject: (subject.date, subject.file))  # fmt: skip
    place_of = {subject: place for place, subject in enumerate(subjects)}
    ax = style.axes_or_new(ax)
    names = [_name(track, tracks) for track in tracks]
    backends = [track.series.place.backend for track in tracks]
    own = style.colours([backend or name for backend, name in zip(backends, names, strict=True)])
    labels: list[tuple[float, str, str]] = []
    for track, name, backend, colour in zip(tracks, names, backends, own, strict=True):
        places = np.array([place_of[track.series.subject(n)] for n in range(len(track.series.at))])
        with_gaps = np.full(len(subjects), np.nan)
        with_gaps[places] = track.series.values
        ax.plot(np.arange(len(subjects)), with_gaps, color=colour, marker=style.mark_of(backend),
                label=name, markeredgecolor="white", markeredgewidth=0.7, zorder=3)  # fmt: skip
        if track.judgement != "judged":
            continue
        for start, stop in pairwise(track.bounds):
            ax.plot(places[start:stop], track.expected[start:stop], color=colour, alpha=0.28,
                    linewidth=7, solid_capstyle="butt", zorder=2)  # fmt: skip
        for step in track.bounds[1:-1]:
            change = track.expected[step] / track.expected[step - 1] - 1
            at = (places[step] + places[step - 1]) / 2
            ax.axvline(at, color=colour, linestyle=(0, (3, 3)), linewidth=1, zorder=1)
            labels.append((at, style.signed(change), colour))
    logarithmic = style.is_log(log, unit, all((track.series.values > 0).all() for track in tracks))
    if not logarithmic:
        ax.set_ylim(bottom=0)
    _room(ax, _label_steps(ax, labels, len(subjects)), logarithmic)
    names = [subject.label for subject in subjects]
    style.values_over_subjects(ax, names, tracks[0].series.place.metric, unit, logarithmic)
    lines = dict.fromkeys(track.series.line.name for track in tracks)
    style.titled(ax, _shared(tracks), next(iter(lines)) if len(lines) == 1 else "")
    if len(tracks) > 1:
        style.legend_beside(ax)
    return ax


def _label_steps(ax: Axes, labels: Iterable[tuple[float, str, str]], subjects: int) -> int:
    """Write the sizes of steps at the top, so that none covers another; return how many rows."""
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


def _words(track: SegmentedSeries) -> dict[str, str]:
    return {word: getattr(track.series.place, word) for word in _WORDS}


def _name(track: SegmentedSeries, tracks: Sequence[SegmentedSeries]) -> str:
    """The words in which a series differs from the others."""
    words = [
        word for key, word in _words(track).items() if any(_words(t)[key] != word for t in tracks)
    ]
    lines = {other.series.line.name for other in tracks}
    words += [track.series.line.name] if len(lines) > 1 else []
    return " ".join(filter(None, words)) or track.series.benchmark


def _shared(tracks: Sequence[SegmentedSeries]) -> str:
    """The words that all series share."""
    shared = [
        f"start method {word}" if key == "launch" and word else word
        for key, word in _words(tracks[0]).items()
        if all(_words(track)[key] == word for track in tracks)
    ]
    return ", ".join(filter(None, shared)) or tracks[0].series.benchmark
