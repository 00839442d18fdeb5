"""What `--help` shows of arguments and options: names of values, and no types of Python."""

from __future__ import annotations

import re
from typing import Any

from typer.core import TyperCommand

_RANGES = (
    (re.compile(r"\b([\d.]+)<=x<=([\d.]+)(?=[];])"), r"\1 to \2"),
    (re.compile(r"\bx>=([\d.]+)(?=[];])"), r"at least \1"),
    (re.compile(r"\bx<=([\d.]+)(?=[];])"), r"at most \1"),
)
"""How typer writes the limits of a number, and how help does."""


class Command(TyperCommand):
    """A command whose help shows `--timeout SECONDS`, where typer has `--timeout <float range>`.

    A parameter without a `metavar` gets its own name in capitals.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for parameter in self.params:
            if parameter.metavar is None and not getattr(parameter, "is_flag", False):
                name = str(parameter.name).rstrip("_").replace("_", "-").upper()
                parameter.metavar = f"{name}..." if parameter.nargs == -1 else name

    # Typer comes with a click of its own, whose types are private.
    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The words of the usage line behind the name; arguments in brackets may be left out."""
        arguments = filter(_is_argument, self.get_params(ctx))
        return [str(self.options_metavar), *map(_usage, arguments)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the sections of arguments and options."""
        parameters = self.get_params(ctx)
        for title, wanted in (("Arguments", True), ("Options", False)):
            chosen = [one for one in parameters if _is_argument(one) == wanted]
            rows = [row for one in chosen if (row := _row(one, ctx)) is not None]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def _is_argument(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "argument")


def _usage(argument: Any) -> str:
    name = str(argument.metavar)
    return name if argument.required or name.startswith("[") else f"[{name}]"


def _row(parameter: Any, ctx: Any) -> tuple[str, str] | None:
    """The name and the text of a parameter; None if help hides it."""
    record = parameter.get_help_record(ctx)
    if record is None:
        return None
    name, text = record
    if isinstance(parameter.default, float):
        text = text.replace(f"default: {parameter.default}", f"default: {parameter.default:g}")
    for pattern, words in _RANGES:
        text = pattern.sub(words, text)
    return (str(parameter.metavar) if _is_argument(parameter) else name), text
