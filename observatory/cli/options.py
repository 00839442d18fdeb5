"""Options that several commands share, and how their values are written."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from observatory.benchmarks.catalogue import (
    BACKENDS,
    LAUNCHES,
    MEASURES,
    METRICS,
    MODELS,
    SCENARIOS,
)
from observatory.errors import SelectionError

if TYPE_CHECKING:
    from observatory.run.placing import Shard

_SECONDS = {"s": 1, "m": 60, "h": 3600}
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def only(option: str, words: Iterable[str], what: str, more: str = "") -> Any:
    """A repeatable option that keeps only some words of the vocabulary; ``more`` ends its help."""
    listed = f"Only this {what}; repeatable: {', '.join(words)}."
    metavar = what.split()[-1].upper()
    return typer.Option(option, metavar=metavar, help=f"{listed} {more}".rstrip())


def flag(option: str, text: str) -> Any:
    """An option without a value and without a negation, whose help is ``text``."""
    return typer.Option(option, help=text)


def several(text: str, metavar: str | None = None) -> Any:
    """A repeatable option, whose help is ``text``."""
    return typer.Option(metavar=metavar, help=f"{text}; repeatable.")


def span(text: str, option: str) -> timedelta:
    """A length of time such as 36h, 30d or 8w. Raises SelectionError, which names the option."""
    found = re.fullmatch(r"(\d{1,4})([hdw])", text)
    if found is None:
        raise SelectionError(
            f"{option} {text!r} is not a length of time; write it like 36h, 30d or 8w"
        )
    return int(found[1]) * _UNITS[found[2]]


def part(text: str) -> Shard:
    """The part of a plan that ``2/3`` names. Raises SelectionError."""
    from observatory.run.placing import shard_of  # most commands measure nothing

    try:
        return shard_of(text)
    except ValueError as error:
        raise SelectionError(f"--shard {error}") from error


class NotATimeError(typer.BadParameter, ValueError):
    """A text is not a time; typer and argparse both turn this into a sentence and status 2."""


def seconds(text: str) -> float:
    """The seconds of ``90``, ``90s``, ``10m`` or ``1.5h``. Raises NotATimeError."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", text.strip())
    if found is None or float(found[1]) <= 0:
        raise NotATimeError(f"{text!r} is not a time; write 90s, 10m or 1.5h")
    return float(found[1]) * _SECONDS[found[2] or "s"]


def deadline(budget: str) -> float:
    """The time of `time.monotonic` at which a budget such as ``10m`` ends; empty: never.

    Raises NotATimeError.
    """
    return time.monotonic() + seconds(budget) if budget else math.inf


def pages_at(url: str) -> str:
    """The address that `Url` gives, or an empty text. Raises SelectionError."""
    return https(url, "--url", "https://host/pages/")


def https(text: str, option: str, example: str) -> str:
    """An https address, or an empty text. Raises SelectionError, which names the option."""
    if text and not re.fullmatch(r"https://[\w.\-]+(:\d+)?(/[\w.\-~%]*)*/?", text):
        raise SelectionError(f"{option} {text!r} is not an https address; write it like {example}")
    return text


Words = list[str] | None
Results = Annotated[
    Path, typer.Option(metavar="DIR", help="Directory of asv results and journals.")
]
Strict = Annotated[
    bool, flag("--strict", "Fail if a file is unreadable. By default the file is skipped.")
]
Models = Annotated[Words, only("--model", MODELS, "model", "Default: radon.")]
Scenarios = Annotated[Words, only("--scenario", SCENARIOS, "scenario")]
Backends = Annotated[Words, only("--backend", BACKENDS, "backend")]
Launches = Annotated[Words, only("--launch", LAUNCHES, "start method")]
Metrics = Annotated[Words, only("--metric", METRICS, "metric")]
Passes = Annotated[
    Words,
    only(
        "--pass", MEASURES, "pass",
        "The filled caches are kept, so that --resume can take the other passes later.",
    ),
]  # fmt: skip
With = Annotated[
    Words,
    typer.Option(
        "--with",
        metavar="REQUIREMENT",
        help="A further requirement of the environment, e.g. numba==0.66.0, pymc or a wheel; "
        "repeatable.",
    ),
]
Python = Annotated[
    str | None,
    typer.Option(
        metavar="VERSION",
        help="Python of the environment, e.g. 3.12. Default: the newest that fits.",
    ),
]
Repo = Annotated[
    Path | None, typer.Option(metavar="CLONE", help="A clone of PyTensor, for --commits.")
]
Machine = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Name of this machine in the results. Default: its host name."
    ),
]
State = Annotated[
    Path, typer.Option(metavar="DIR", help="Directory of environments and filled caches.")
]
Timeout = Annotated[
    float, typer.Option(metavar="SECONDS", help="Longest time for one measured process.", min=1)
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="WORKERS",
        help="Workers that take the samples: local:2 for two on this machine, or the address of a "
        "Dask scheduler. Needs the extra fleet.",
    ),
]
Examined = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="WORKERS",
        help="Check these workers instead of this machine: local:2 for two on this machine, or the "
        "address of a Dask scheduler. Needs the extra fleet.",
    ),
]
Subjects = Annotated[
    Words, typer.Option("--subject", help="Only this subject, e.g. 3.3.7; repeatable.")
]
Pages = Annotated[Path, typer.Option("--out", metavar="DIR", help="Directory of the pages.")]
Benchmark = Annotated[
    str | None,
    typer.Option(
        metavar="PATTERN",
        help='For other projects: only benchmarks whose name contains this, e.g. "sort*large".',
    ),
]
Top = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="For other projects: list at most this many, the largest change first.",
        min=1,
    ),
]
Url = Annotated[
    str,
    typer.Option(metavar="URL", help="Address (https) of the published pages, for links to them."),
]
Json = Annotated[bool, flag("--json", "Print JSON instead of a table.")]
AsMarkdown = Annotated[bool, flag("--markdown", "Print Markdown, as for an issue.")]
SearchedCell = Annotated[
    str,
    typer.Option(
        "--cell", help='The cell, e.g. "radon warm_disk NUMBA spawn". Default: that of the alert.'
    ),
]
SearchedMetric = Annotated[
    str,
    typer.Option(
        "--metric",
        help="The metric that changed. Default: that of the alert; between two subjects, "
        "cache_misses.",
    ),
]
SearchedGraphs = Annotated[
    list[str] | None,
    typer.Option(
        "--graph",
        metavar="NAME",
        help='Build only this graph of the model, or those like "linalg.*"; repeatable. Default: '
        "those that the alert names.",
    ),
]
SearchBudget = Annotated[
    str,
    typer.Option(
        "--budget",
        metavar="TIME",
        help="Longest time: 90s, 10m, 1h; the next search continues. Default: none.",
    ),
]
Summary = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Also append the text to this file, e.g. $GITHUB_STEP_SUMMARY."
    ),
]
