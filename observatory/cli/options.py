"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchmarks.catalogue import BACKENDS, LAUNCHES, MEASURES, METRICS, MODELS, SCENARIOS

Results = Annotated[
    Path, typer.Option(help="Directory of asv results and journals.", show_default=True)
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Fail if a file could not be read, instead of naming it.")
]
Models = Annotated[
    list[str] | None,
    typer.Option("--model", help=f"Repeatable: {', '.join(MODELS)}. Default: radon."),
]
Scenarios = Annotated[
    list[str] | None,
    typer.Option("--scenario", help=f"Only this scenario; repeatable: {', '.join(SCENARIOS)}."),
]
Backends = Annotated[
    list[str] | None,
    typer.Option("--backend", help=f"Only this backend; repeatable: {', '.join(BACKENDS)}."),
]
Launches = Annotated[
    list[str] | None,
    typer.Option("--launch", help=f"Only this start method; repeatable: {', '.join(LAUNCHES)}."),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option("--metric", help=f"Only this metric; repeatable: {', '.join(METRICS)}."),
]
Measures = Annotated[
    list[str] | None,
    typer.Option(
        "--measure",
        help=f"Only this pass; repeatable: {', '.join(MEASURES)}. The filled caches are kept for "
        "the other passes: take them with --resume.",
    ),
]
Machine = Annotated[
    str | None, typer.Option(help="Name of this machine in the results; default: its host name.")
]
State = Annotated[Path, typer.Option(help="Where environments and filled caches are kept.")]
Timeout = Annotated[float, typer.Option(help="Seconds for one measured process.", min=1)]
