"""What commands print is text, and commands to nobody: not to a workflow's runner, not to a log.

Names of benchmarks, keys of files, messages of a forge and paths come from strangers. Whatever a
command prints passes `for_log` here, so that no command has to think of it. A terminal needs its
control characters; for it, the sentences and tables are cleaned where they are made
(`observatory.cli.output`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO, cast

from observatory.text.plain import for_log

_ESCAPE = "\x1b"
_ENOUGH = 64
"""Characters of a line that decide whether what follows is still at its beginning."""


class _Guarded:
    """A stream to which nothing is written that a runner or a log would obey.

    What is not a text, such as an exported table, goes to ``buffer`` as it is.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._begun = ""
        self._kept = _ESCAPE if os.environ.get("FORCE_COLOR") else ""

    def write(self, text: str) -> int:
        """Write a text; returns its length. Raises TypeError for bytes."""
        if not isinstance(text, str):  # typer finds out so what a stream takes
            raise TypeError("a text is written here, and bytes to `buffer`")
        safe = for_log(text, self._begun, self._kept)
        line = (self._begun + safe).rpartition("\n")[2]
        # Only its beginning matters, after blanks, and its last two characters.
        words = line.lstrip()
        self._begun = words if len(words) <= _ENOUGH else f"x{words[-2:]}"
        self._stream.write(safe)
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        """Write texts one after another."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def guarded() -> Iterator[None]:
    """Guard both streams of this process, unless they are terminals, until the block ends."""
    out, err = (
        stream if stream.isatty() else cast(TextIO, _Guarded(stream))
        for stream in (sys.stdout, sys.stderr)
    )
    with redirect_stdout(out), redirect_stderr(err):
        yield
