"""The command `observatory`: its sub-commands, and what becomes of an error."""

from __future__ import annotations

import signal
import sys
from types import FrameType
from typing import Annotated, ClassVar

import typer
from rich.console import Console

from observatory.app.version import tool_version
from observatory.cli.lazy import LazyGroup
from observatory.errors import Exit, ObservatoryError

_EPILOG = "Exit status: " + "; ".join(f"{code.value} {code.meaning}" for code in Exit) + "."


class Commands(LazyGroup):
    """Every command and what it does, in the width that help has for it.

    The module of a command has its name: `observatory scan-cache` is commands/scan_cache.py.
    """

    sentences: ClassVar[dict[str, str]] = {
        "observe": "Measure the newest PyTensor and build the pages.",
        "run": "Measure subjects; record every sample.",
        "show": "Show subjects as tables, side by side.",
        "compare": "Say whether HEAD is worse than BASE, and why.",
        "canary": "Say whether siblings return each other's numbers.",
        "upgrade": "Let a subject use the cache that another one left.",
        "alerts": "Find what got worse along the history.",
        "ack": "Acknowledge an alert: known, why, until when.",
        "comment": "Publish a comparison on its pull request.",
        "deliver": "Keep one GitHub issue for each alert.",
        "dashboard": "Build the static site.",
        "publish": "Add results to a branch of results.",
        "nightly": "Do all that is done every night, step by step.",
        "export": "Export the tidy frame as CSV, JSON or parquet.",
        "plot": "Draw what was recorded as PNG, SVG or PDF.",
        "contracts": "Check what PyTensor relies on in numba.",
        "scan-cache": "Find functions in a cache that share a symbol.",
        "init": "Write the workflows that observe a project.",
        "import": "Import pytest-benchmark's files as results.",
        "doctor": "Say whether this machine is fit to measure.",
        "calibrate": "Measure what chance alone does on this machine.",
        "evaluate-detector": "Measure how often detectors are wrong.",
    }


app = typer.Typer(
    cls=Commands,
    name="observatory",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Measure what PyTensor's compile caches do, cell by cell, and show what changed.\n\n"
    "Begin with `observatory observe`: it measures the newest PyTensor and builds html/.",
    epilog=_EPILOG,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"observatory {tool_version()}")
        raise typer.Exit


@app.callback()
def _options(
    _: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and leave."
        ),
    ] = False,
) -> None:
    """Options of the command itself."""  # fmt: skip


class _Interrupted(BaseException):
    """Ctrl-C or SIGTERM. Not KeyboardInterrupt, which typer would turn into exit status 1."""


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise _Interrupted


def main() -> None:
    """Run the command; every expected error becomes one sentence on stderr and a status."""
    errors = Console(stderr=True, highlight=False, soft_wrap=True)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    try:
        app()  # leaves by SystemExit; mistakes in options end there, with Exit.USAGE
    except ObservatoryError as error:
        # The runner of a workflow obeys "##[" anywhere in a line.
        sentence = f"observatory: {error}".replace("##[", "## [")
        errors.print(sentence, style="red", markup=False)
        sys.exit(error.exit_code)
    except _Interrupted:
        errors.print("observatory: interrupted; what was measured is recorded", markup=False)
        sys.exit(Exit.INTERRUPTED)
