"""The exit statuses of raising the bound, and the errors that end with one of them."""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar


class Status(IntEnum):
    """The exit statuses; docs/numba-bound.md lists them. `observatory` uses none for another."""

    meaning: str

    DONE = 0, "every pin is up to date, or was rewritten"
    UNEXPECTED = 1, "a defect of this script; a traceback is printed"
    USAGE = 2, "the command was not understood"
    DUE = 20, "--check: a pin would be rewritten; nothing was written"
    NO_PIN = 21, "there is no numba pin where this script rewrites pins"
    NOT_SAFE = 22, "the file cannot be read, understood or rewritten safely; it is unchanged"
    NO_ANSWER = 23, "the package index or the channel did not answer, or has no such numba"
    LEFT = 24, "nothing to rewrite; a pin was left alone on purpose, as the output explains"
    DO_NOT_MERGE = 25, "--judge: rewritten, but something is wrong, broken or worse"
    NOT_JUDGED = 26, "--judge: rewritten, nothing is bad, but not everything could be judged"
    INTERRUPTED = 130, "interrupted; the file is unchanged"

    def __new__(cls, value: int, meaning: str) -> Status:
        """Make a member with its meaning in a few words."""
        made = int.__new__(cls, value)
        made._value_ = value
        made.meaning = meaning
        return made


class BoundError(Exception):
    """An error that ends the command with ``status``; the message says what is wrong."""

    status: ClassVar[Status]


class UnsafeError(BoundError, ValueError):
    """A file cannot be understood or rewritten safely; the message says why."""

    status = Status.NOT_SAFE


class NoAnswerError(BoundError):
    """It is not known which numba exists; the message says who was asked and the answer."""

    status = Status.NO_ANSWER
