"""The command `observatory`: its sub-commands, and how errors end it."""

from __future__ import annotations

import importlib
import keyword
import signal
import sys
from types import FrameType
from typing import Annotated, Any, ClassVar

import typer
from rich.console import Console
from typer.core import TyperCommand, TyperGroup

from observatory import tool_version
from observatory.errors import Exit, ObservatoryError

_EPILOG = "Exit status: " + "; ".join(f"{code.value} {code.meaning}" for code in Exit) + "."
_LISTING = "observatory.listing"
_OLD_OPTIONS = {"measure": "pass"}


def module_of(command: str) -> str:
    """The name of the module of a command: `scan-cache` is commands/scan_cache.py."""
    name = command.replace("-", "_")
    return f"{name}_" if keyword.iskeyword(name) else name


class Commands(TyperGroup):
    """The commands. Each is imported when it is called: some need pandas, scipy or asv.

    A module has a function `command`, or a group `app` if the command has sub-commands.
    """

    # What each command does, in the width that help has for it.
    sentences: ClassVar[dict[str, str]] = {
        "observe": "Measure the newest PyTensor and build its pages.",
        "run": "Measure subjects and record every sample.",
        "show": "Show subjects as tables, side by side.",
        "compare": "Say whether HEAD is worse than BASE, and why.",
        "profile": "Show where the work of a build went.",
        "canary": "Check that a shared cache mixes up no results.",
        "census": "Say what becomes of single graphs in a cache.",
        "explore": "Look for graphs that a cache confuses.",
        "upgrade": "Check a subject on the cache of another one.",
        "alerts": "Find what got worse in the history.",
        "ack": "Acknowledge an alert until a date.",
        "digest": "Write what changed in a week as Markdown.",
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

    # Typer comes with a click of its own, whose types are private.
    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """The names of the commands in the order of help."""
        return list(self.sentences)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command, imported; for the list of commands, only its sentence."""
        if cmd_name not in self.sentences:
            return None
        if ctx.meta.get(_LISTING):
            return TyperCommand(cmd_name, help=self.sentences[cmd_name])
        module = importlib.import_module(f"observatory.cli.commands.{module_of(cmd_name)}")
        app = typer.Typer(rich_markup_mode=self.rich_markup_mode)
        if hasattr(module, "app"):
            app.add_typer(module.app, name=cmd_name)
        else:
            app.command(cmd_name)(module.command)
        return typer.main.get_group(app).commands[cmd_name]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands without importing them."""
        ctx.meta[_LISTING] = True
        super().format_commands(ctx, formatter)


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
    """Run the command; an expected error ends it with a sentence on stderr and an exit status."""
    errors = Console(stderr=True, highlight=False, soft_wrap=True)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    try:
        app()  # leaves by SystemExit; mistakes in options end there, with Exit.USAGE
    except ObservatoryError as error:
        # The runner of a GitHub workflow executes "##[" anywhere in a line.
        sentence = f"observatory: {error}".replace("##[", "## [")
        errors.print(sentence, style="red", markup=False)
        sys.exit(error.exit_code)
    except _Interrupted:
        errors.print("observatory: interrupted; every finished sample is recorded", markup=False)
        sys.exit(Exit.INTERRUPTED)
