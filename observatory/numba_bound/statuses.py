"""What the exit statuses of raising the bound mean. Each has one meaning."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """Exit statuses; docs/numba-bound.md lists them. None means anything else to `observatory`."""

    DONE = 0
    UNEXPECTED = 1
    USAGE = 2
    DUE = 20
    NO_PIN = 21
    NOT_SAFE = 22
    NO_ANSWER = 23
    LEFT = 24
    DO_NOT_MERGE = 25
    NOT_JUDGED = 26
    INTERRUPTED = 130

    @property
    def meaning(self) -> str:
        """The meaning in a few words."""
        return _MEANINGS[self]


_MEANINGS = {
    Status.DONE: "every pin is up to date, or was rewritten",
    Status.UNEXPECTED: "a defect of this script; a traceback is printed",
    Status.USAGE: "the command was not understood",
    Status.DUE: "--check: a pin would be rewritten; nothing was written",
    Status.NO_PIN: "there is no numba pin where this script rewrites pins",
    Status.NOT_SAFE: "the file cannot be read, understood or rewritten safely; it is unchanged",
    Status.NO_ANSWER: "the package index or the channel did not answer, or has no such numba",
    Status.LEFT: "nothing to rewrite, and a pin was left alone on purpose, e.g. because it "
    "already allows a newer numba",
    Status.DO_NOT_MERGE: "--judge: rewritten, but something is wrong, broken or worse",
    Status.NOT_JUDGED: "--judge: rewritten, nothing is known to be wrong, but not everything "
    "could be judged",
    Status.INTERRUPTED: "interrupted; the file is unchanged",
}
