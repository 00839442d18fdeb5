"""What the exit status of a command means. One meaning each, the same for every command."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """Exit statuses; docs/reference/exit-statuses.md lists them."""

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
    Exit.UNREADABLE: "with --strict: a file could not be read (else it is named and skipped)",
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
EPILOG = "Exit status: " + "; ".join(f"{code.value} {code.meaning}" for code in Exit) + "."
