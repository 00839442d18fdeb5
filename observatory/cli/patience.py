"""Streams of a command that are not as usual, which change neither what it does nor how it ends.

A reader may leave early (`observatory show | head`) or be slow, nobody may have opened the streams
(cron, daemons), an encoding may lack characters, and a terminal may have no width. Output that
finds no room is an error.
"""

from __future__ import annotations

import io
import os
import select
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class _Lasting(io.RawIOBase):
    """A file descriptor; what is written after its reader has left is lost.

    So is what cannot be written. For standard output that is an error, of which the user is told.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def fileno(self) -> int:
        """The file descriptor, which rich asks for the width of the terminal."""
        return self._descriptor

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return os.isatty(self._descriptor)

    def writable(self) -> bool:
        """Always."""
        return True

    def write(self, data: ReadableBuffer, /) -> int:
        """Write some of the data; returns how many bytes. Raises OSError, once."""
        try:
            while True:
                try:
                    return os.write(self._descriptor, data)
                except BlockingIOError:
                    select.select([], [self._descriptor], [])
        except OSError as error:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._descriptor)
            os.close(nowhere)
            if self._descriptor == 1 and not isinstance(error, BrokenPipeError):
                raise OSError(error.errno, error.strerror, "standard output") from error
            return memoryview(data).nbytes


def outlive_readers() -> None:
    """Let the command go on, and end as it would, when the reader of its output has left."""
    _open_standard_streams()
    if os.environ.get("COLUMNS") == "0":  # rich would print nothing
        del os.environ["COLUMNS"]
    # Somebody else may take what is printed: a test, a notebook.
    if sys.stdout is sys.__stdout__ and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout = _lasting(sys.stdout, line_buffering=sys.stdout.isatty())
    if sys.stderr is sys.__stderr__ and isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr = _lasting(sys.stderr, line_buffering=True)


def _lasting(stream: io.TextIOWrapper, line_buffering: bool) -> io.TextIOWrapper:
    stream.flush()
    escaped = stream.errors == "strict" or stream.encoding.lower() != "utf-8"
    return io.TextIOWrapper(
        io.BufferedWriter(_Lasting(stream.fileno())), encoding=stream.encoding,
        # A character that the encoding lacks is written as \u2192.
        errors="backslashreplace" if escaped else stream.errors,
        line_buffering=line_buffering,
    )  # fmt: skip


def _open_standard_streams() -> None:
    """Give a process that was started without some of its streams such as lead nowhere.

    A file that is opened later would otherwise get the number of one, and the messages.
    """
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere != descriptor:
                os.dup2(nowhere, descriptor)
                os.close(nowhere)
            os.set_inheritable(descriptor, True)  # for the processes that this one starts
            mode = "w" if descriptor else "r"
            setattr(sys, name, os.fdopen(descriptor, mode, encoding="utf-8", closefd=False))
