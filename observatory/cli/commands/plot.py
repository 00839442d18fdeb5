"""`observatory plot`: pictures of what was recorded, for papers, release notes and issues."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from observatory.benchmarks.catalogue import LAUNCHES, METRICS, SCENARIOS
from observatory.cli import options
from observatory.cli.help import Command
from observatory.cli.output import name_broken, say

if TYPE_CHECKING:
    from matplotlib.axes import Axes

app = typer.Typer(
    no_args_is_help=True,
    help="Plot results as PNG, SVG or PDF.\n\nThe same results always give the same file. "
    "In a notebook, `observatory.app.plot` draws the same.",
)

Out = Annotated[
    Path, typer.Option("--out", "-o", metavar="FILE", help="File to write: .png, .svg or .pdf.")
]
Metric = Annotated[str, typer.Option(help=f"The metric: {', '.join(METRICS)}.")]
Model = Annotated[str, typer.Option(help="The model.")]
Launch = Annotated[
    str, typer.Option(metavar="METHOD", help=f"The start method: {', '.join(LAUNCHES)}.")
]
Scenario = Annotated[str, typer.Option(help=f"The scenario: {', '.join(SCENARIOS)}.")]
Machine = Annotated[
    str | None, typer.Option(metavar="NAME", help="The machine. Default: the one with most values.")
]
Log = Annotated[
    bool | None,
    typer.Option("--log/--linear", help="Scale. Default: logarithmic for times and sizes."),
]
Width = Annotated[float, typer.Option(metavar="INCHES", help="Width in inches.", min=2, max=40)]
Height = Annotated[
    float | None, typer.Option(metavar="INCHES", help="Height in inches.", min=1, max=40)
]


@app.callback()
def _without_windows() -> None:
    os.environ["MPLBACKEND"] = "agg"  # before matplotlib is imported


@app.command(cls=Command)
def history(
    out: Out,
    results: options.Results = Path("results"),
    metric: Metric = "compile_time",
    scenario: Scenario = "warm_process",
    model: Model = "radon",
    launch: Launch = "fork",
    machine: Machine = None,
    log: Log = None,
    width: Width = 7.0,
    height: Height = None,
) -> None:
    """Plot a metric of each backend over the subjects."""
    from observatory.app import frame, plot

    name_broken(results)
    rows = frame(results)
    drawn = plot.history(
        rows, metric=metric, scenario=scenario, model=model, launch=launch, machine=machine, log=log
    )
    _save(drawn, out, width, height)


@app.command(cls=Command)
def series(
    out: Out,
    results: options.Results = Path("results"),
    metric: Metric = "compile_time",
    model: Annotated[list[str] | None, typer.Option(help="Only this model; repeatable.")] = None,
    scenario: options.Scenarios = None,
    backend: options.Backends = None,
    launch: options.Launches = None,
    machine: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this machine; repeatable.")
    ] = None,
    log: Log = None,
    width: Width = 7.0,
    height: Height = None,
) -> None:
    """Plot series with their levels and steps."""
    from observatory.app import plot
    from observatory.app import series as series_of

    name_broken(results)
    tracks = series_of(
        results, metric=metric, models=model or (), scenarios=scenario or (),
        backends=backend or (), launches=launch or (), machines=machine or (),
    )  # fmt: skip
    _save(plot.series(tracks, log=log), out, width, height)


@app.command(cls=Command)
def compare(
    comparison: Annotated[
        Path, typer.Argument(metavar="FILE.json", help="A file that `compare --json` wrote.")
    ],
    out: Out,
    metric: Metric = "compile_time",
    most: Annotated[int, typer.Option(metavar="N", help="Largest number of cells.", min=1)] = 30,
    width: Width = 7.5,
    height: Height = None,
) -> None:
    """Plot one metric of a comparison for each cell, with intervals."""
    from observatory.app import plot
    from observatory.app.comparison import load_comparison

    _save(plot.compare(load_comparison(comparison), metric=metric, most=most), out, width, height)


@app.command(cls=Command)
def ledger(
    subject: Annotated[str, typer.Argument(help="A subject in the results, e.g. 3.3.7.")],
    out: Out,
    results: options.Results = Path("results"),
    model: Model = "radon",
    scenario: Scenario = "cold",
    backend: Annotated[str, typer.Option(help="The backend.")] = "NUMBA",
    launch: Launch = "fork",
    machine: Machine = None,
    most: Annotated[
        int, typer.Option(metavar="N", help="Largest number of function names.", min=1)
    ] = 15,
    width: Width = 7.0,
    height: Height = None,
) -> None:
    """Plot the slowest compiled functions of a cell, coloured by outcome."""
    from observatory.app import ledger as ledger_of
    from observatory.app import plot

    name_broken(results)
    functions = ledger_of(
        subject, results=results, model=model, scenario=scenario, backend=backend, launch=launch,
        machine=machine,
    )  # fmt: skip
    _save(plot.ledger(functions, most=most), out, width, height)


def _save(drawn: Axes, out: Path, width: float, height: float | None) -> None:
    from observatory.app import plot

    figure = drawn.get_figure(root=True)
    assert figure is not None
    figure.set_size_inches(width, height or figure.get_figheight())
    say(f"The picture: {plot.save(drawn, out)}")
