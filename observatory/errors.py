"""The exit statuses of `observatory`, and the class of every error that ends a command with one."""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar


class Exit(IntEnum):
    """The exit statuses: each has one meaning, which is the same for every command."""

    OK = 0
    UNEXPECTED = 1
    USAGE = 2
    SAMPLE_FAILED = 3
    ENVIRONMENT = 4
    WRONG_RESULTS = 5
    UNREADABLE = 6
    WORSE = 7
    UNDECIDED = 8
    ALERTS = 9
    SYMBOLS = 10
    CONTRACTS = 11
    ARTIFACT = 12
    GITHUB = 13
    UNFIT = 14
    UNPUBLISHED = 15
    INTERRUPTED = 130

    @property
    def meaning(self) -> str:
        """The meaning in a few words."""
        return _MEANINGS[self]


_MEANINGS = {
    Exit.OK: "done, and nothing was wrong",
    Exit.UNEXPECTED: "a defect of the observatory itself; a traceback is printed",
    Exit.USAGE: "the command was not understood, or nothing matched it",
    Exit.SAMPLE_FAILED: "everything was recorded, but a measured process raised, died or hung",
    Exit.ENVIRONMENT: "no interpreter was found, or an environment under test could not be made",
    Exit.WRONG_RESULTS: "everything was recorded, and a subject returned wrong numbers",
    Exit.UNREADABLE: "a file that the command needs is broken; with --strict, any file that it "
    "would otherwise name and skip",
    Exit.WORSE: "compare: HEAD is worse than BASE",
    Exit.UNDECIDED: "compare: nothing is worse, but not every cell could be judged",
    Exit.ALERTS: "alerts --fail-on: there is an alert in one of these states",
    Exit.SYMBOLS: "scan-cache: functions in a cache share a symbol, or may come to share one",
    Exit.CONTRACTS: "contracts: something of numba that PyTensor relies on does not hold",
    Exit.ARTIFACT: "comment: the artifact was refused, and nothing was written",
    Exit.GITHUB: "comment, deliver: GitHub did not do all that was asked; run it again",
    Exit.UNFIT: "doctor: this machine is not fit to measure",
    Exit.UNPUBLISHED: "publish: the branch could not be fetched or moved; run it again",
    Exit.INTERRUPTED: "interrupted; what was measured is recorded, `--resume` goes on",
}


class ObservatoryError(Exception):
    """Something that a person can mend; the message is a sentence that says what and how.

    ``exit_code`` is the status with which a command ends that this error stops. Each subclass has
    its own; a notebook can read it from the exception.
    """

    exit_code: ClassVar[Exit] = Exit.USAGE


class SelectionError(ObservatoryError, ValueError):
    """A filter or an option matches nothing; the message lists what exists."""
