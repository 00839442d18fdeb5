"""A sequential test of votes: as few as an answer takes. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from math import log


def decided(votes: Iterable[bool], error: float = 0.01, share: float = 0.75) -> bool | None:
    """Which side most votes are on, as soon as enough were cast; None if they were not.

    The sequential probability ratio test (Wald, Sequential Tests of Statistical Hypotheses, 1945)
    between two hypotheses: a vote is True with probability ``share``, or False with it. The answer
    is wrong in at most ``error`` of all cases where at least that share of votes is right. With the
    defaults one side needs five votes more than the other one. Votes after the answer are ignored,
    so that nobody can go on until an answer pleases.
    """
    step, bound = log(share / (1 - share)), log((1 - error) / error)
    total = 0.0
    for vote in votes:
        total += step if vote else -step
        if abs(total) >= bound:
            return total > 0
    return None
