"""`observatory evaluate-detector`: measure the error rates of change detectors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import numpy as np
import orjson
import typer
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from observatory.analyze import detectors as evaluation
from observatory.analyze.detectors import DETECTORS, FEWEST_VALUES, OURS, OnlineRates, Rates
from observatory.analyze.history.steps import PARAMETERS
from observatory.analyze.replay import AFTER
from observatory.app.evaluation import Evaluated, Replayed, evaluate, long_series, replayed
from observatory.benchmarks.catalogue import no_such
from observatory.cli import options
from observatory.cli.output import Console, grid, report_problems
from observatory.errors import SelectionError
from observatory.store.base.files import write_atomic


def command(
    results: Annotated[
        Path, typer.Argument(metavar="DIR", help="A directory of asv results, of any project.")
    ],
    detector: Annotated[options.Words, options.only("--detector", DETECTORS, "detector")] = None,
    others: Annotated[
        list[str] | None,
        typer.Option(
            "--external",
            metavar="NAME=COMMAND",
            help="Also evaluate a program that reads JSON lists of values, one a line, and writes "
            "lists of indices; repeatable. See scripts/otava_detector.py.",
        ),
    ] = None,
    half: Annotated[
        str,
        typer.Option(
            help="Series to use: all, first or second (every other one). The parameters of the "
            "observatory's detector were chosen on the first half."
        ),
    ] = "all",
    online: Annotated[
        bool,
        options.flag(
            "--online", "Also run the detectors night after night, which takes 90 times as long."
        ),
    ] = False,
    replay: Annotated[
        bool,
        options.flag(
            "--replay",
            "Instead replay the history week by week through the code that makes alerts.",
        ),
    ] = False,
    weeks: Annotated[
        int, typer.Option(metavar="N", help="Number of weeks to replay: the newest ones.", min=1)
    ] = 104,
    seed: Annotated[
        int, typer.Option(metavar="N", help="Seed for windows, permutations and positions.")
    ] = 0,
    repeat: Annotated[
        int,
        typer.Option(
            metavar="N", help="Number of windows of each series; with 1, F1 varies by 0.01.", min=1
        ),
    ] = 1,
    json: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write all rates as JSON to this file.")
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Plot the rates to this file: .png, .svg or .pdf."),
    ] = None,
    strict: options.Strict = False,
) -> None:
    """Measure the error rates of change detectors on the series of any asv results.

    The command permutes windows of real series, so that every alarm is false, and then inserts
    steps of known size. It uses series of at least 200 values.
    """  # fmt: skip
    if replay:
        unused = {
            "--detector": detector, "--external": others, "--half": half != "all",
            "--online": online, "--repeat": repeat != 1, "--json": json, "--picture": picture,
        }  # fmt: skip
        if given := [name for name, value in unused.items() if value]:
            raise SelectionError(f"--replay only prints tables; drop {', '.join(given)}")
        found_weeks, problems = replayed(results, weeks, seed)
        for table in _replay_tables(found_weeks):
            Console().print(table)
        report_problems(problems, strict)
        return
    names = detector or list(DETECTORS)
    if unknown := [name for name in names if name not in DETECTORS]:
        raise SelectionError(no_such("detector", unknown[0], DETECTORS))
    chosen = {name: DETECTORS[name][0] for name in names}
    programs = _programs(others)
    series, problems = long_series(results, half)
    if not series:
        report_problems(problems, strict)
        raise SelectionError(f"{results} has no series of at least {FEWEST_VALUES} values")
    with Progress(console=Console(stderr=True), transient=True) as progress:
        found = evaluate(
            series, chosen, programs, online=online, seeds=range(seed, seed + repeat),
            track=lambda detectors, what: progress.track(detectors, description=what),
        )  # fmt: skip
    console = Console()
    console.print(
        f"{len(series)} series of {results} (half: {half}), seed {seed}, windows of each: {repeat}",
        markup=False,
    )
    console.print(_table(found.alone, "Values permuted one by one"))
    console.print(_table(found.blocks, f"Values permuted in blocks of {evaluation.BLOCK}"))
    if found.online:
        console.print(_online_table(found.online))
    if json is not None:
        write_atomic(json, _json(found, len(series), half, seed, repeat))
    if picture is not None:
        # matplotlib takes half a second to import: only a picture needs it.
        from observatory.app import plot

        plot.save(plot.detectors(found.alone), picture)
    report_problems(problems, strict)


def _replay_tables(found: Replayed) -> Iterable[Table]:
    new = np.array([week.new for week in found.weeks])
    last = found.weeks[-1]
    yield _drawn(
        f"Replayed week by week, {len(new)} weeks",
        ("new alerts a week: mean", "median", "90 %", "maximum", "of one cause", "open at the end",
         "smaller changes"),
        [(f"{new.mean():.2f}", f"{np.median(new):g}", f"{np.percentile(new, 90):g}",
          f"{new.max()}", f"{sum(week.same_cause for week in found.weeks)} of {new.sum()}",
          f"{last.open}", f"{last.smaller}")],
    )  # fmt: skip
    yield _drawn(
        f"Steps put into {found.told[0].series} series, each alone",
        ("step", f"reported within {AFTER} values", "median delay in values", "false"),
        [
            (f"+{one.factor - 1:.0%}", f"{one.found:.1%}",
             "-" if one.median_delay is None else f"{one.median_delay:g}", f"{one.false}")
            for one in found.told
        ],
    )  # fmt: skip


def _programs(texts: Sequence[str] | None) -> list[tuple[str, str]]:
    found = []
    for text in texts or ():
        name, separator, command = text.partition("=")
        if not (name and separator and command.strip()):
            raise SelectionError(f"--external {text!r} is not valid; write NAME=COMMAND")
        found.append((name, command))
    return found


def _table(found: Sequence[Rates], title: str) -> Table:
    steps = [f"+{step - 1:.0%}" for step in evaluation.STEPS]
    header = ("detector", "F1", "false series per 1000", *steps, "ms a series")
    rows = [
        (
            one.detector, f"{one.f1:.3f}", f"{one.false_series_per_1000:.1f}",
            *(f"{one.recall(step):.0%}" for step in evaluation.STEPS), f"{one.ms_per_series:.2f}",
        )
        for one in found
    ]  # fmt: skip
    return _drawn(title, header, rows)


def _online_table(found: Sequence[OnlineRates]) -> Table:
    header = (
        "detector", "false alarms per 1000 series-nights",
        f"+{evaluation.ONLINE_STEP - 1:.0%} found within {evaluation.FOUND_WITHIN} nights",
        "median delay in nights",
    )  # fmt: skip
    rows = [
        (
            one.detector, f"{one.false_per_1000_nights:.2f}", f"{one.found:.1%}",
            "-" if one.median_delay is None else f"{one.median_delay:g}",
        )
        for one in found
    ]  # fmt: skip
    first, last = evaluation.NIGHTS
    return _drawn(f"Run again every night, {first} to {last}", header, rows)


def _drawn(title: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    styled = ([Text(cell, style="bold" if row[0] == OURS else "") for cell in row] for row in rows)
    return grid(header, styled, title=title, right=header[1:], wrapped=header[1:])


def _json(found: Evaluated, series: int, half: str, seed: int, repeat: int) -> bytes:
    def as_dict(one: Rates) -> dict[str, object]:
        fields = ("detector", "f1", "false_series_per_1000", "null_alarms", "extra",
                  "ms_per_series")  # fmt: skip
        recall = {f"{step:g}": one.recall(step) for step in evaluation.STEPS}
        return {name: getattr(one, name) for name in fields} | {"recall": recall}

    online = [
        {
            "detector": one.detector,
            "false_alarms_per_1000_series_nights": one.false_per_1000_nights,
            "found": one.found, "median_delay_nights": one.median_delay,
        }
        for one in found.online
    ]  # fmt: skip
    made = {
        "series": series, "half": half, "seed": seed, "windows_of_each": repeat,
        "parameters": asdict(PARAMETERS), "permuted": [as_dict(one) for one in found.alone],
        "permuted_in_blocks": [as_dict(one) for one in found.blocks], "online": online,
    }  # fmt: skip
    return orjson.dumps(made, option=orjson.OPT_INDENT_2) + b"\n"
