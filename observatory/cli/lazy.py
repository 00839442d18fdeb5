"""A group of commands each of which is imported when it is called, and no earlier.

Some need pandas, scipy or asv, which take longer to import than the others take to run.
"""

from __future__ import annotations

import importlib
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

_LISTING = "observatory.listing"


class LazyGroup(TyperGroup):
    """``modules``: by name of a command the module of it, and what it does in a sentence."""

    modules: ClassVar[dict[str, tuple[str, str]]] = {}

    # Typer comes with a click of its own, whose types are private.
    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """The commands in the order in which they are listed."""
        return list(self.modules)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command, imported; while help lists all of them no more than its sentence."""
        if cmd_name not in self.modules:
            return None
        module, sentence = self.modules[cmd_name]
        if ctx.meta.get(_LISTING):
            return TyperCommand(cmd_name, help=sentence)
        app = importlib.import_module(f"observatory.cli.{module}").app
        app.rich_markup_mode = self.rich_markup_mode  # of the whole, as for any other group
        return typer.main.get_group(app).commands[cmd_name]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands without importing them."""
        ctx.meta[_LISTING] = True
        super().format_commands(ctx, formatter)
