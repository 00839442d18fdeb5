"""The pictures of single findings in docs/: of work, of growth, and of the path of a user of PyMC.

`make pictures` calls `findings`. All are drawn from results, in the style of the pages' pictures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter
from pandas import DataFrame

from observatory import app
from observatory.analyze.growth.families import JUDGED, Family, by_subject
from observatory.analyze.profiles.cells import difference_of
from observatory.app.growth import growth
from observatory.app.plot import style
from observatory.app.walks import walks_in
from observatory.dashboard.colours import tokens
from observatory.store.reading.walks import StepTaken
from observatory.text.path import Walk, by_model, steps_of, totals_of
from observatory.text.units import count

RELEASES = ("3.0.7", "3.1.3", "3.2.4", "3.3.7")
LARGEST = 4  # parts of each step
LAYERS = ("layers.Scan", "layers.Composite", "layers.OpFromGraph")
WALKED = "eight_schools"
_MARKS = "osD"


def findings(results: Path, into: Path) -> Iterator[Path]:
    """Draw all of them as files of ``into``, and return their paths.

    Raises SelectionError if the results lack what one of them shows.
    """
    yield app.plot.save(work(results), into / "work.png")
    yield app.plot.save(_growth(results), into / "growth.svg")
    yield app.plot.save(_path(results), into / "path.svg")


@style.styled
def _growth(results: Path) -> Figure:
    """Python calls by size: inputs of one node by release, and equal layers of the newest one."""
    found = growth(results, backend="NUMBA")
    grown = by_subject((one.label, one.families) for one in found if one.place == found[-1].place)
    newest = list(grown)[-1]
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    wide, layers = (style.axes_or_new(axes) for axes in figure.subplots(1, 2))
    # The newest is on top; an older one that it covers shows around it.
    for place, (label, colour) in enumerate(zip(grown, style.colours(list(grown)), strict=True)):
        _curve(wide, grown[label], "inputs.Elemwise", label, place, colour)
    style.titled(wide, "One node with more inputs", "Elemwise; Python calls of a build, NUMBA")
    for place, (name, colour) in enumerate(zip(LAYERS, style.colours(LAYERS), strict=True)):
        _curve(layers, grown[newest], name, name.partition(".")[2], place, colour)
    style.titled(layers, "A chain of more equal layers", f"{newest}; both scales logarithmic")
    for axes, noun in ((wide, "inputs"), (layers, "layers")):
        axes.set_xlabel(noun)
        axes.legend(loc="upper left")
    return figure


def _curve(
    axes: Axes, of: Sequence[Family], name: str, label: str, place: int, colour: str
) -> None:
    points = next(family for family in of if family.name == name).curve(JUDGED).points
    sizes = [point.size for point in points]
    axes.plot(
        sizes, [point.value for point in points], color=colour, label=label,
        marker=_MARKS[place % len(_MARKS)], markersize=9 - 2 * (place % 3),
        linewidth=4.5 - 1.4 * (place % 3),
    )  # fmt: skip
    style.scale_of(axes.yaxis, "calls", log=True)
    style.logarithmic(axes.xaxis)
    axes.xaxis.set_major_locator(FixedLocator(sizes))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: count(size)))


@style.styled
def _path(results: Path) -> Figure:
    """Functions compiled on the path, by subject: of one model by step, of each model in all."""
    found = {model: walks for (model, *_), walks in by_model(walks_in(results)).items()}
    cold = {
        model: {_short(walk.label): walk for walk in walks if walk.start == "cold" and _whole(walk)}
        for model, walks in found.items()
    }
    labels = list(dict.fromkeys(label for walks in cold.values() for label in walks))
    steps = steps_of(WALKED, found[WALKED])
    figure = Figure(figsize=(10, 5.2), layout="constrained")
    by_step, by_name = (style.axes_or_new(axes) for axes in figure.subplots(1, 2))
    for number, label in enumerate(labels):
        walk = cold[WALKED].get(label)
        taken = [walk.steps.get(step) if walk else None for step in steps]
        in_all = [totals_of([one[label]])[0] if label in one else None for one in cold.values()]
        for axes, counted in ((by_step, taken), (by_name, in_all)):
            _bars(axes, [_compiled(one) for one in counted], number, len(labels), label)
    for axes, names in ((by_step, steps), (by_name, list(cold))):
        axes.set_yticks(range(len(names)), [name.replace("_", " ") for name in names])
        axes.invert_yaxis()
    style.titled(by_step, f"Functions that {WALKED} compiles", "each step, from an empty cache")
    style.titled(by_name, "Functions of all steps", "each model, from an empty cache")
    by_step.legend(loc="center right")
    return figure


def _whole(walk: Walk) -> bool:
    """Whether every step was taken: a sum of fewer says nothing."""
    return all(step.status == "ok" for step in walk.steps.values())


def _short(label: str) -> str:
    """A subject by its release and that of PyMC."""
    release, *others = label.split()
    return " ".join([release, *(one.replace("pymc==", "PyMC ") for one in others
                                if one.startswith("pymc=="))])  # fmt: skip


def _compiled(step: StepTaken | None) -> float | None:
    return None if step is None else (step.metrics or {}).get("functions_compiled")


def _bars(axes: Axes, counted: Sequence[float | None], number: int, of: int, label: str) -> None:
    """One of several sets of bars, each with its count; none where nothing was counted."""
    thick = 0.8 / of
    known = [(place, value) for place, value in enumerate(counted) if value is not None]
    at = [place + (number + 0.5) * thick - 0.4 for place, _ in known]
    values = [value for _, value in known]
    bars = axes.barh(at, values, thick, label=label, color=tokens()[f"s{number}"])
    axes.bar_label(bars, [count(value) for value in values], padding=3, fontsize=7.5)
    axes.spines["bottom"].set_visible(False)
    axes.set_xticks([])
    axes.margins(x=0.12)


@style.styled
def work(results: Path) -> Figure:
    """The work of a warm build and of calls by release, and the largest parts of the build's."""
    counted = app.frame(results).query("metric == 'instructions' and backend == 'NUMBA'")
    # 2.35.1 compiles everything in each process: beside its bar, no other differs from the next.
    counted = counted[counted["subject"].str.startswith("3.")]
    parts = _parts(results)
    figure = Figure(figsize=(10, 6.2), layout="constrained")
    grid = figure.add_gridspec(2, 2, width_ratios=(2, 3))
    build = _by_release(figure.add_subplot(grid[0, 0]), counted, "warm_process", 1e9, "%.2f")
    style.titled(build, "Instructions of a warm build", "thousand million; NUMBA, warm_process")
    called = _by_release(figure.add_subplot(grid[1, 0]), counted, "call", 1e6, "%.1f")
    style.titled(called, "Instructions of 1,000 calls", "million; NUMBA, call")
    calls = style.axes_or_new(figure.add_subplot(grid[:, 1]))
    names, changes = zip(*parts, strict=True)
    totals = [place % (LARGEST + 1) == 0 for place in range(len(parts))]
    bars = calls.barh(range(len(parts)), changes)
    for bar, change, total in zip(bars, changes, totals, strict=True):
        bar.set(color=tokens()["bad" if change > 0 else "good"], alpha=1 if total else 0.6)
    calls.bar_label(bars, [f"{change:+,}" for change in changes], padding=3, fontsize=8)
    calls.set_yticks(range(len(parts)), names)
    for label, total in zip(calls.get_yticklabels(), totals, strict=True):
        label.set(weight="bold" if total else "normal", color=tokens()["ink"], size=9)
    calls.set_xticks([])
    calls.spines["bottom"].set_visible(False)
    calls.invert_yaxis()
    calls.margins(x=0.16)
    title = "Python calls that a warm build adds and saves"
    style.titled(calls, title, "each step, and its largest parts")
    return figure


def _by_release(axes: Axes, counted: DataFrame, scenario: str, unit: float, written: str) -> Axes:
    """A bar for each release, with its value in ``unit`` instructions."""
    axes, rows = style.axes_or_new(axes), counted[counted["scenario"] == scenario]
    bars = axes.bar(
        rows["subject"], rows["value"] / unit, color=style.colour_of("NUMBA"), width=0.7
    )
    axes.bar_label(bars, fmt=written, fontsize=8)
    axes.tick_params(axis="x", rotation=45)
    axes.margins(y=0.1)
    return axes


def _parts(results: Path) -> list[tuple[str, int]]:
    """The changes of Python calls from release to release, each followed by its largest parts."""
    cell = {"scenario": "warm_process", "backend": "NUMBA"}
    parts: list[tuple[str, int]] = []
    for base, head in pairwise(RELEASES):
        (_, before), (_, after) = app.profile(base, head, results=results, **cell).sides
        found = difference_of(before, after)
        assert found is not None
        changed = [*found.rewriters, *(one for one in found.phases if one.name != "rewriting")]
        changed.sort(key=lambda one: -abs(one.calls))
        parts.append((f"{base} → {head}", found.head - found.base))
        parts += [(one.name, one.calls) for one in changed[:LARGEST]]
    return parts
