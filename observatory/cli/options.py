"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.catalogue import BACKENDS, LAUNCHES, MEASURES, METRICS, MODELS, SCENARIOS


def only(option: str, words: Iterable[str], what: str, more: str = "") -> Any:
    """A repeatable option that keeps only some words of the vocabulary; ``more`` ends its help."""
    listed = f"Only this {what}; repeatable: {', '.join(words)}."
    return typer.Option(option, help=f"{listed} {more}".rstrip())


Words = list[str] | None
Results = Annotated[Path, typer.Option(help="Directory of asv results and journals.")]
Strict = Annotated[
    bool, typer.Option("--strict", help="Fail if a file is unreadable; the default skips it.")
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
        "The filled caches are kept: --resume takes the other passes later.",
    ),
]  # fmt: skip
With = Annotated[
    Words,
    typer.Option(
        "--with",
        help="A further requirement of the environment, e.g. numba==0.66.0, pymc or a wheel; "
        "repeatable.",
    ),
]
Python = Annotated[
    str | None,
    typer.Option(help="Python of the environment, e.g. 3.12. Default: the newest that fits."),
]
Repo = Annotated[Path | None, typer.Option(help="A clone of PyTensor, for --commits.")]
Machine = Annotated[
    str | None, typer.Option(help="Name of this machine in the results. Default: its host name.")
]
State = Annotated[Path, typer.Option(help="Directory of environments and filled caches.")]
Timeout = Annotated[float, typer.Option(help="Longest time for one measured process, in s.", min=1)]
