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
_OLD_OPTIONS = {"measure": "pass"}


class Commands(LazyGroup):
    """Every command and what it does, in the width that help has for it.

    The module of a command has its name: `observatory scan-cache` is commands/scan_cache.py.
    """

    sentences: ClassVar[dict[str, str]] = {
        "observe": "Measure the newest PyTensor and build its pages.",
        "run": "Measure subjects and record every sample.",
        "show": "Show subjects as tables, side by side.",
        "compare": "Say whether HEAD is worse than BASE, and why.",
        "canary": "Check that a shared cache mixes up no results.",
        "upgrade": "Check a subject on the cache of another one.",
        "alerts": "Find what got worse in the history.",
        "ack": "Acknowledge an alert until a date.",
        "comment": "Publish a comparison on its pull request.",
        "deliver": "Keep one GitHub issue for each alert.",
        "dashboard": "Build the static site.",
        "publish": "Add results to a branch of a repository.",
        "nightly": "Measure, check, build and publish every night.",
        "export": "Export the results as CSV, JSON or Parquet.",
        "plot": "Plot results as PNG, SVG or PDF.",
        "contracts": "Check what PyTensor relies on in numba.",
        "scan-cache": "Find functions in a cache that share a symbol.",
        "init": "Write GitHub workflows for a project.",
        "import": "Import results of pytest-benchmark.",
        "doctor": "Check whether this machine is fit to measure.",
        "calibrate": "Measure the noise of times on this machine.",
        "evaluate-detector": "Measure the error rates of change detectors.",
    }


app = typer.Typer(
    cls=Commands,
    name="observatory",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"token_normalize_func": lambda name: _OLD_OPTIONS.get(name, name)},
    help="Measure the compile caches of PyTensor and show what changed.\n\n"
    "Begin with `observatory observe`. It measures the newest PyTensor and builds html/.",
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
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
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
        errors.print("observatory: interrupted; every finished sample is recorded", markup=False)
        sys.exit(Exit.INTERRUPTED)
