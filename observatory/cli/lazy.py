"""A group of commands each of which is imported when it is called, and no earlier.

Some need pandas, scipy or asv, which take longer to import than the others take to run.
"""

from __future__ import annotations

import importlib
import keyword
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

_LISTING = "observatory.listing"
_COMMANDS = "observatory.cli.commands"


def module_of(command: str) -> str:
    """The name of the module of a command: with an underscore behind a word of Python's."""
    name = command.replace("-", "_")
    return f"{name}_" if keyword.iskeyword(name) else name


class LazyGroup(TyperGroup):
    """``sentences``: what each command does. Its module has its name.

    A module has a function `command`, or, where a command has some of its own, a group `app`.
    """

    sentences: ClassVar[dict[str, str]] = {}

    # Typer comes with a click of its own, whose types are private.
    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """The commands in the order in which they are listed."""
        return list(self.sentences)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command, imported; while help lists all of them no more than its sentence."""
        if cmd_name not in self.sentences:
            return None
        if ctx.meta.get(_LISTING):
            return TyperCommand(cmd_name, help=self.sentences[cmd_name])
        module = importlib.import_module(f"{_COMMANDS}.{module_of(cmd_name)}")
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
