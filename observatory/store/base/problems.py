"""What is wrong with something that was read: named, returned and counted, never hidden.

Reading never stops at a broken file. It returns what is whole together with the problems, and the
command that asked says them and lets its exit code say so too.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from observatory.errors import Exit, ObservatoryError

if TYPE_CHECKING:
    from pydantic import ValidationError

_LONGEST_REASON = 300


@dataclass(frozen=True)
class Problem:
    """One broken file, or one broken line of it (counted from 1), and the reason as a sentence."""

    path: Path
    reason: str
    line: int | None = None

    def __str__(self) -> str:
        # The name of a file may be no text at all, and must be printed all the same.
        place = str(self.path).encode(errors="backslashreplace").decode()
        place += "" if self.line is None else f":{self.line}"
        return f"{place}: {self.reason}"


class RecordError(ObservatoryError):
    """Results cannot be read or written; the message says why and what to do."""

    exit_code = Exit.UNREADABLE


class RecordUsageError(RecordError):
    """What was asked for does not fit the results: a directory, a name or an option is wrong."""

    exit_code = Exit.USAGE


def reason_of(error: ValidationError) -> str:
    """The first complaints of a schema validation as one short sentence.

    It leaves the input's values out: they come from outside and may be of any kind and size. Its
    keys come from there, too: one that is not plain text is written with escapes.
    """
    details = error.errors(include_url=False, include_context=False, include_input=False)
    complaints = "; ".join(
        f"{'.'.join(_named(part) for part in detail['loc']) or 'the whole'}: {detail['msg']}"
        for detail in details[:3]
    )
    more = f" and {len(details) - 3} more" if len(details) > 3 else ""
    return f"it does not fit the schema ({complaints[:_LONGEST_REASON]}{more})"


def _named(part: str | int) -> str:
    name = str(part)[:60]
    return name if name.isascii() and name.isprintable() else ascii(name)[1:-1]
