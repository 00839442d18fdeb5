"""The style of all pictures: colours, marks, fonts, axes with units; and saving a picture."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from observatory.benchmarks.catalogue import BACKENDS
from observatory.dashboard.colours import tokens
from observatory.dashboard.drawing.geometry import shape_of
from observatory.errors import SelectionError
from observatory.store.base.files import write_atomic
from observatory.text import units
from observatory.text.plain import shorten

_P = ParamSpec("_P")
_T = TypeVar("_T")
FORMATS = (".png", ".svg", ".pdf")
_DPI = 200
_MARKS = {"circle": "o", "square": "s", "diamond": "D", "triangle": "^"}
_MOST_TICKS = 24
"""Most labels of subjects on an axis; of more, every second, third, ... is shown."""


def colour_of(backend: str) -> str:
    """The colour of a backend on the page; a neutral one for an unknown backend."""
    return BACKENDS[backend].light if backend in BACKENDS else tokens()["other"]


def colours(names: Sequence[str]) -> list[str]:
    """A colour for each name: those of the backends if they tell the names apart."""
    own = [colour_of(name) for name in names]
    if len(set(own)) == len(own):
        return own
    return [tokens()[f"s{number % 8}"] for number in range(len(names))]


def mark_of(backend: str) -> str:
    """The mark of a backend, for readers who cannot tell its colour."""
    return _MARKS[shape_of(backend)]


def _parameters() -> dict[str, Any]:
    ink, quiet = tokens()["ink"], tokens()["ink-2"]
    return {
        "font.family": ["DejaVu Sans"], "font.size": 10, "text.color": ink,
        "axes.titlesize": 11, "axes.titleweight": "bold", "axes.titlelocation": "left",
        "axes.titlecolor": ink, "axes.labelcolor": quiet, "axes.edgecolor": tokens()["edge"],
        "xtick.color": quiet, "ytick.color": quiet, "legend.frameon": False,
        "lines.linewidth": 1.8, "lines.markersize": 5.5, "figure.dpi": 110,
        "svg.hashsalt": "observatory",
    }  # fmt: skip


def styled(draw: Callable[_P, _T]) -> Callable[_P, _T]:
    """Draw with the style of all pictures, and restore matplotlib's settings afterwards."""

    @wraps(draw)
    def drawn(*arguments: _P.args, **options: _P.kwargs) -> _T:
        with mpl.rc_context(_parameters()):  # type: ignore[arg-type]
            return draw(*arguments, **options)

    return drawn


def axes_or_new(ax: Axes | None, width: float = 7.0, height: float = 3.8) -> Axes:
    """The given Axes, or new ones of a figure of this size in inches, without a frame above."""
    if ax is None:
        # pyplot's figures are those that a notebook shows.
        from matplotlib import pyplot

        ax = pyplot.subplots(figsize=(width, height), layout="constrained")[1]
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_axisbelow(True)
    return ax


def logarithmic(axis: Axis, longest: float = 150.0) -> None:
    """A logarithmic scale with labels at 1, 2 and 5, or only at 1 beyond a ratio of ``longest``."""
    axis.axes.set(**{f"{axis.axis_name}scale": "log"})  # type: ignore[attr-defined]
    low, high = sorted(axis.get_view_interval())
    few = high / max(low, 1e-300) < longest
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if few else (1,), numticks=12))
    axis.set_minor_formatter(NullFormatter())
    axis.set_tick_params(which="minor", length=0)


def scale_of(axis: Axis, unit: str, log: bool = False) -> None:
    """A scale with labels in seconds or bytes, or in whole numbers for counts."""
    if log:
        logarithmic(axis)
    else:
        axis.axes.set(**{f"{axis.axis_name}scale": "linear"})  # type: ignore[attr-defined]
        axis.set_major_locator(MaxNLocator(5, integer=unit not in ("seconds", "bytes")))
    axis.set_major_formatter(FuncFormatter(lambda value, _: _tick(value, unit)))
    axis.grid(visible=True, color=tokens()["rule"], linewidth=0.8)


def values_over_subjects(
    ax: Axes, labels: Sequence[str], metric: str, unit: str, log: bool
) -> None:
    """Axes of values of a metric over subjects, which lie evenly spaced with the newest in bold."""
    scale_of(ax.yaxis, unit, log)
    ax.set_ylabel(labelled(metric, unit))
    every = -(-len(labels) // _MOST_TICKS) or 1
    shown = [place for place in range(len(labels)) if (len(labels) - 1 - place) % every == 0]
    names = [shorten(labels[place], 16) for place in shown]
    ax.set_xticks(shown, names, rotation=45, ha="right", rotation_mode="anchor", fontsize=9)
    ax.set_xlim(-0.5, len(labels) - 0.5)
    if names:
        ax.get_xticklabels()[-1].set(fontweight="bold", color=tokens()["ink"])


def is_log(log: bool | None, unit: str, positive: bool) -> bool:
    """Whether a scale is logarithmic: by default for times and sizes without a 0.

    Raises SelectionError if it is asked for and there is a 0.
    """
    if log and not positive:
        raise SelectionError("a logarithmic scale shows only values above 0, and some are 0")
    return positive and (unit in ("seconds", "bytes") if log is None else log)


def _tick(value: float, unit: str) -> str:
    """The label of a round number, without trailing zeros."""
    if value == 0:
        return "0"
    text = units.human(value, unit)
    number, space, name = text.partition(" ")
    return f"{float(number):g}{space}{name}" if "." in number else text


def signed(fraction: float) -> str:
    """A relative change in percent, with its sign."""
    return f"{'+' if fraction > 0 else ''}{units.percent(fraction)}"


def labelled(metric: str, unit: str) -> str:
    """The label of an axis: the metric, and its unit unless the labels of ticks have one."""
    name = metric.replace("_", " ")
    return name if unit in ("seconds", "bytes", "") else f"{name} ({unit})"


def titled(ax: Axes, title: str, detail: str = "") -> None:
    """A title in bold, and a detail in grey below it."""
    ax.set_title(title, loc="left", pad=20 if detail else 8)
    if detail:
        quiet = tokens()["ink-2"]
        ax.text(0, 1.02, detail, transform=ax.transAxes, fontsize=9, color=quiet, va="bottom")


def legend_above(ax: Axes, title: str) -> None:
    """The title, and the legend in one row below it."""
    ax.set_title(title, loc="left", pad=28)
    ax.legend(
        loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=5, borderaxespad=0.2, handlelength=1.0,
        handletextpad=0.5, columnspacing=1.4,
    )  # fmt: skip


def legend_beside(ax: Axes) -> None:
    """The legend at the right of the axes, where it covers nothing."""
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), borderaxespad=0.2)


@styled
def save(picture: Axes | Figure, path: Path | str) -> Path:
    """Write a picture as PNG, SVG or PDF, depending on the suffix of the path; return the path.

    The same picture always gives the same bytes. Raises SelectionError for another suffix, and
    OSError.
    """
    target = Path(path)
    kind = target.suffix.lower()
    if kind not in FORMATS:
        raise SelectionError(f"{target} ends in none of {', '.join(FORMATS)}")
    figure = picture if isinstance(picture, Figure) else picture.get_figure(root=True)
    assert figure is not None
    dated = {".png": "Software", ".svg": "Date", ".pdf": "CreationDate"}
    content = io.BytesIO()
    figure.savefig(content, format=kind[1:], dpi=_DPI, metadata={dated[kind]: None})
    write_atomic(target, content.getvalue())
    return target
