"""The command `observatory`: its sub-commands, and how errors end it."""

from __future__ import annotations

import errno
import importlib
import keyword
import shlex
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, ClassVar, cast

import typer
from rich.console import Console
from typer.core import TyperGroup

from observatory import tool_version
from observatory.app.parts import Processes
from observatory.cli.guarded import guarded
from observatory.cli.help import Command
from observatory.cli.patience import outlive_readers
from observatory.errors import Exit, ObservatoryError
from observatory.garbage import collect_little
from observatory.store.base.files import write_atomic
from observatory.text.plain import for_log, shorten

_ENDING = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
_OLD_OPTIONS = {"measure": "pass"}
_OTHER_PATH = "give another path"
_ADVICE = {
    **dict.fromkeys(
        (
            errno.ENAMETOOLONG, errno.ELOOP, errno.ENOENT, errno.ENOTDIR, errno.EISDIR,
            errno.EEXIST, errno.EROFS, errno.EBUSY, errno.EINVAL, errno.ENOTEMPTY, errno.ETXTBSY,
            errno.ENXIO, errno.ENODEV,
        ),
        _OTHER_PATH,
    ),
    **dict.fromkeys((errno.EACCES, errno.EPERM), f"{_OTHER_PATH}, or change its permissions"),
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), f"make room there, or {_OTHER_PATH}"),
}  # fmt: skip
"""What to do about an error of a file that a path of the user led to, or its file system."""
_MAKING = {write_atomic.__name__, "mkdir", "mkdtemp", "mkstemp"}
"""The functions that make files and directories."""
_PACKAGE = Path(__file__).resolve().parents[1]


# Typer comes with a click of its own, whose types are private.
_Mistake = cast("type[Exception]", typer.BadParameter.__base__)


@contextmanager
def _plain_mistakes() -> Iterator[None]:
    """Clean what is said of a mistake in the words of a command line, which it quotes."""
    try:
        yield
    except _Mistake as error:
        error.message = for_log(error.message)  # type: ignore[attr-defined]
        raise


def module_of(command: str) -> str:
    """The name of the module of a command: `scan-cache` is commands/scan_cache.py."""
    name = command.replace("-", "_")
    return f"{name}_" if keyword.iskeyword(name) else name


class Commands(TyperGroup):
    """The commands. Each is imported when it is called: some need pandas, scipy or asv.

    A module has a function `command`, or a group `app` if the command has sub-commands.
    """

    # What each command does, in the width that help has for it, by the group that help lists it in.
    groups: ClassVar[dict[str, dict[str, str]]] = {
        "Measure": {
            "observe": "Measure the newest PyTensor and build web pages.",
            "run": "Measure releases, commits or wheels.",
            "canary": "Check whether processes mix up results in a shared cache.",
            "census": "Build single graphs and show what a cache makes of each.",
            "explore": "Look for graphs that a cache confuses.",
            "upgrade": "Look for stale numbers from another version's cache.",
            "contracts": "Check what PyTensor relies on in numba.",
            "torture": "Damage caches on purpose, and show what users get.",
            "tomorrow": "Try PyTensor with pre-releases of numba.",
            "scan-cache": "Find functions in a cache that share a symbol.",
            "cache": "Show what a cache contains and what may be deleted.",
            "passport": "Say whether a cache may be used, or print its key for CI.",
            "check": "Check your own environment with a copy of your cache.",
        },
        "Judge": {
            "show": "Show results as tables, side by side.",
            "compare": "Say whether one version is worse than another, and why.",
            "profile": "Show where the work of a build went.",
            "growth": "Show how build costs grow with the size of graphs.",
            "path": "Show what PyMC compiles, from model to samples.",
            "alerts": "Find what got worse in the history.",
            "bisect": "Find the release or commit that changed a metric.",
            "cross": "Find which of PyTensor, numba and others changed a count.",
            "explain": "Say which part of the key of a function differs.",
            "ack": "Acknowledge an alert until a date.",
        },
        "Publish": {
            "dashboard": "Build web pages from the results of any asv project.",
            "digest": "Write what changed in a week as Markdown.",
            "plot": "Plot results as PNG, SVG or PDF.",
            "export": "Write results as CSV, JSON or Parquet.",
            "comment": "Post a comparison on its pull request.",
            "deliver": "Keep one GitHub issue for each alert.",
            "publish": "Add results to a git branch or an object store.",
        },
        "Maintain": {
            "doctor": "Check whether this machine is fit to measure.",
            "sentinel": "Time fixed work, to see whether the machine changed.",
            "calibrate": "Measure how much times vary by chance on this machine.",
            "nightly": "Measure, check, build and publish every night.",
            "init": "Write GitHub workflows for a project.",
            "import": "Add results of pytest-benchmark.",
            "evaluate-detector": "Measure the error rates of change detectors.",
        },
    }

    sentences: ClassVar[dict[str, str]] = dict(
        pair for own in groups.values() for pair in own.items()
    )

    def make_context(self, *given: Any, **more: Any) -> Any:
        """The context of the command itself; mistakes in its own options are told plainly."""
        with _plain_mistakes():
            return super().make_context(*given, **more)

    def invoke(self, ctx: Any) -> Any:
        """Run a command; mistakes in its options are told plainly."""
        with _plain_mistakes():
            return super().invoke(ctx)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """The names of the commands in the order of help."""
        return list(self.sentences)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """The command, imported."""
        if cmd_name not in self.sentences:
            return None
        module = importlib.import_module(f"observatory.cli.commands.{module_of(cmd_name)}")
        app = typer.Typer(rich_markup_mode=self.rich_markup_mode)
        if hasattr(module, "app"):
            app.add_typer(module.app, name=cmd_name)
        else:
            app.command(cmd_name, cls=Command)(module.command)
        return typer.main.get_group(app).commands[cmd_name]

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """List the commands by group, without importing them."""
        width = max(map(len, self.sentences))
        for title, commands in self.groups.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), text) for name, text in commands.items()])

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """List the exit statuses, which scripts need and people do not: so they come last."""
        with formatter.section("Exit statuses"):
            formatter.write_dl([(f"{code.value:3}", code.meaning) for code in Exit])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the arguments name; a misspelt one is answered with the closest."""
        name = args[0]
        if name not in self.sentences and not name.startswith("-"):
            from observatory.benchmarks.catalogue import (
                no_such,  # only a mistake needs the catalogue
            )

            ctx.fail(no_such("command", name, self.sentences))
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=Commands,
    name="observatory",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"token_normalize_func": lambda name: _OLD_OPTIONS.get(name, name)},
    help="Measure the compile caches of PyTensor and show what changed.\n\n"
    "Begin with `observatory observe`: in three to five minutes it measures the newest PyTensor "
    "and builds html/index.html. `observatory COMMAND --help` explains a command.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"observatory {tool_version()}")
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
    outlive_readers()
    with guarded():
        _main()


def _main() -> None:
    errors = Console(stderr=True, highlight=False, soft_wrap=True)
    for number in _ENDING:
        signal.signal(number, _interrupt)
    Processes.allowed = True  # those that start the command do nothing else
    collect_little()
    try:
        try:
            app()  # leaves by SystemExit; mistakes in options end there, with Exit.USAGE
        except SystemExit:
            sys.stdout.flush()
            raise
    except ObservatoryError as error:
        errors.print(for_log(f"observatory: {error}"), style="red", markup=False)
        sys.exit(error.exit_code)
    except (OSError, RuntimeError) as error:
        if not (sentence := _of_a_path(error)):
            raise
        errors.print(for_log(f"observatory: {sentence}"), style="red", markup=False)
        sys.exit(Exit.USAGE)
    except ImportError as error:
        if not _is_of_a_model(error):
            raise
        errors.print(for_log(f"observatory: {error}"), style="red", markup=False)
        sys.exit(Exit.USAGE)
    except _Interrupted:
        for number in _ENDING:  # somebody may press Ctrl-C once more
            signal.signal(number, signal.SIG_IGN)
        said = for_log(f"observatory: interrupted{_going_on(sys.argv[1:])}")
        errors.print(said, markup=False, soft_wrap=True)  # with a command to copy
        sys.exit(Exit.INTERRUPTED)


def _going_on(arguments: Sequence[str]) -> str:
    """What a person who interrupts a command should know: what is kept, and how to go on."""
    group = cast("TyperGroup", typer.main.get_command(app))
    context = group.context_class(group, resilient_parsing=True)
    command = group.get_command(context, next(iter(arguments), ""))
    words = [word for one in command.params for word in one.opts] if command else []
    measures = not {"--timeout", "--resume"}.isdisjoint(words)
    kept = "; every finished sample is recorded" * measures
    if "--resume" not in words:
        return kept
    again = [*arguments, *["--resume"] * ("--resume" not in arguments)]
    return f"{kept}; to go on: {shlex.join(['observatory', *again])}"


def _is_of_a_model(error: ImportError) -> bool:
    """Whether a file of a model, which the catalogue imports, is of no use, as the error says."""
    models = sys.modules.get("observatory.benchmarks.models")
    return models is not None and isinstance(error, models.ModelError)


def _of_a_path(error: OSError | RuntimeError) -> str:
    """What is wrong with a path that a user gave, and what to do; empty where it is another error.

    Before Python 3.13, pathlib makes a RuntimeError of the OSError of a link that leads to itself.
    """
    own = error.__context__ if type(error) is RuntimeError else error
    if not isinstance(own, OSError) or own.filename is None or _is_a_bug(own):
        return ""
    if own is not error and own.errno != errno.ELOOP:
        return ""
    path = shorten(str(own.filename2 or own.filename), 200)
    return f"{path}: {own.strerror}; {_ADVICE[own.errno]}" if own.errno in _ADVICE else ""


def _is_a_bug(error: OSError) -> bool:
    """Whether the path is none that a user gave: of a program, a process, or the observatory.

    Of a process, the observatory only reads files; whoever wants to make one has named it.
    """
    place = str(error.filename)
    calls = {frame.f_code.co_name for frame, _ in traceback.walk_tb(error.__traceback__)}
    read = place.startswith("/proc/") and not calls & _MAKING
    return "_execute_child" in calls or read or place.startswith(f"{_PACKAGE}/")
