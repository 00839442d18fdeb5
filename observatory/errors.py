"""The exit statuses of `observatory`, and the base class of its errors."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import ClassVar


class Exit(IntEnum):
    """The exit statuses; each has one meaning for all commands."""

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
    COUNTEREXAMPLES = 16
    UNSAFE_CACHE = 17
    INTERRUPTED = 130

    @property
    def meaning(self) -> str:
        """The meaning in a few words."""
        return _MEANINGS[self]


_MEANINGS = {
    Exit.OK: "success",
    Exit.UNEXPECTED: "a bug in the observatory (see the traceback)",
    Exit.USAGE: "the command or a path is invalid, or nothing matches it",
    Exit.SAMPLE_FAILED: "a measured process failed; everything is recorded",
    Exit.ENVIRONMENT: "an environment could not be made, or no Python fits",
    Exit.WRONG_RESULTS: "a subject returned wrong numbers; everything is recorded",
    Exit.UNREADABLE: "a file is unreadable (with --strict: any file)",
    Exit.WORSE: "compare: HEAD is worse; torture, canary --settings: something is worse",
    Exit.UNDECIDED: "not every result could be judged, and none is worse",
    Exit.ALERTS: "alerts --fail-on: an alert is in one of the states",
    Exit.SYMBOLS: "functions in a cache share a symbol, or could",
    Exit.CONTRACTS: "contracts: numba breaks what PyTensor relies on",
    Exit.ARTIFACT: "comment: the artifact was refused; nothing is written",
    Exit.GITHUB: "comment, deliver: a request to GitHub failed; try again",
    Exit.UNFIT: "doctor: a machine or worker is not fit; --cluster: no worker is fit",
    Exit.UNPUBLISHED: "publish: the branch or store could not be updated; try again",
    Exit.COUNTEREXAMPLES: "explore: a graph raises, or equal graphs have different keys",
    Exit.UNSAFE_CACHE: "passport: no measurement shows that the cache is safe here",
    Exit.INTERRUPTED: "interrupted; finished samples are recorded, and --resume continues",
}


_SEVEREST_FIRST = (
    Exit.WRONG_RESULTS, Exit.UNEXPECTED, Exit.ENVIRONMENT, Exit.USAGE, Exit.SAMPLE_FAILED,
    Exit.COUNTEREXAMPLES, Exit.SYMBOLS, Exit.CONTRACTS, Exit.WORSE, Exit.ALERTS,
    Exit.UNSAFE_CACHE, Exit.UNFIT, Exit.UNPUBLISHED, Exit.ARTIFACT, Exit.GITHUB, Exit.UNREADABLE,
    Exit.UNDECIDED, Exit.INTERRUPTED,
)  # fmt: skip


def severest(statuses: Iterable[int]) -> int:
    """Return the worst of several exit statuses; 0 if all are 0.

    Wrong results come first, and a status that `Exit` does not have comes next.
    """
    order: dict[int, float] = {one: place for place, one in enumerate(_SEVEREST_FIRST)}
    return min((one for one in statuses if one), key=lambda one: order.get(one, 0.5), default=0)


class ObservatoryError(Exception):
    """An error that a person can fix; the message says what is wrong, where, and what to do.

    A command that raises it ends with the status ``exit_code``, which each subclass defines.
    """

    exit_code: ClassVar[Exit] = Exit.USAGE


class SelectionError(ObservatoryError, ValueError):
    """A filter or an option matches nothing; the message lists what exists."""
