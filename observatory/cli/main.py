"""The command `observatory`: its sub-commands, and what becomes of an error."""

from __future__ import annotations

import signal
import sys
from types import FrameType
from typing import Annotated, ClassVar

import typer
from rich.console import Console

from dashboard.publish import NotOurDirectoryError
from observatory.cli.exit_codes import EPILOG, Exit
from observatory.cli.lazy import LazyGroup
from observatory.cli.version import tool_version
from observatory.decide.places import SelectionError
from observatory.record.problems import RecordError
from observatory.run.environments import EnvironmentMakingError
from observatory.run.external import ExternalDetectorError
from observatory.run.interpreters import NoInterpreterError
from observatory.run.releases import ReleasesError
from observatory.run.sources import SubjectError
from observatory.run.uv import UvError

_USAGE = (
    ExternalDetectorError, NotOurDirectoryError, RecordError, ReleasesError, SelectionError,
    SubjectError,
)  # fmt: skip
_ENVIRONMENT = (EnvironmentMakingError, NoInterpreterError, UvError)


class Commands(LazyGroup):
    """Every command: its module, and what it does in the width that help has for it."""

    modules: ClassVar[dict[str, tuple[str, str]]] = {
        "observe": ("run", "Measure the newest PyTensor and build the pages."),
        "run": ("run", "Measure subjects; record every sample."),
        "show": ("show", "Show subjects as tables, side by side."),
        "compare": ("compare", "Say whether HEAD is worse than BASE, and why."),
        "canary": ("canary", "Say whether siblings return each other's numbers."),
        "upgrade": ("upgrading", "Let a subject use the cache that another one left."),
        "alerts": ("alerting", "Find what got worse along the history."),
        "ack": ("alerting", "Acknowledge an alert: known, why, until when."),
        "comment": ("github", "Publish a comparison on its pull request."),
        "deliver": ("github", "Keep one GitHub issue for each alert."),
        "dashboard": ("site", "Build the static site."),
        "publish": ("publishing", "Add results to a branch of results."),
        "nightly": ("nightly", "Do all that is done every night, step by step."),
        "export": ("show", "Export the tidy frame as CSV, JSON or parquet."),
        "contracts": ("contracting", "Check what PyTensor relies on in numba."),
        "scan-cache": ("scanning", "Find functions in a cache that share a symbol."),
        "init": ("initialising", "Write the workflows that observe a project."),
        "import": ("importing", "Import pytest-benchmark's files as results."),
        "doctor": ("doctoring", "Say whether this machine is fit to measure."),
        "calibrate": ("calibrate", "Measure what chance alone does on this machine."),
        "evaluate-detector": ("evaluating", "Measure how often detectors are wrong."),
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
    epilog=EPILOG,
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
    except _USAGE as error:
        errors.print(f"observatory: {error}", style="red", markup=False)
        sys.exit(Exit.USAGE)
    except _ENVIRONMENT as error:
        errors.print(f"observatory: {error}", style="red", markup=False)
        sys.exit(Exit.ENVIRONMENT)
    except _Interrupted:
        errors.print("observatory: interrupted; what was measured is recorded", markup=False)
        sys.exit(Exit.INTERRUPTED)
