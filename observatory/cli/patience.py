"""Readers that leave early, as in `observatory show | head`: no error, and no other exit status."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class _Lasting(io.RawIOBase):
    """A file descriptor; what is written after its reader has left is lost."""

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
        """Write some of the data; returns how many bytes."""
        try:
            return os.write(self._descriptor, data)
        except BrokenPipeError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._descriptor)
            os.close(nowhere)
            return memoryview(data).nbytes


def outlive_readers() -> None:
    """Let the command go on, and end as it would, when the reader of its output has left."""
    out = sys.stdout
    if out is not sys.__stdout__ or not isinstance(out, io.TextIOWrapper):
        return  # somebody else takes the output: a test, a notebook
    out.flush()
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(_Lasting(out.fileno())), encoding=out.encoding, errors=out.errors,
        line_buffering=out.isatty(),
    )  # fmt: skip
