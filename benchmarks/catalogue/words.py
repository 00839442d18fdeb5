"""The smaller vocabularies: start methods, passes, outcomes and statuses, each with its meaning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

Kind = Literal["exact", "near_exact", "noisy"]
Measure = Literal["timing", "counting", "tracing", "work"]


@dataclass(frozen=True)
class Launch:
    """One start method."""

    meaning: str
    shares_seed: bool
    """Whether processes that share a cache share their hash seed."""


LAUNCHES: Mapping[str, Launch] = {
    "fork": Launch(
        "a parent imports pytensor and numba, builds nothing and forks; the child is measured",
        shares_seed=True,
    ),
    "spawn": Launch("a fresh interpreter with a hash seed of its own", shares_seed=False),
    "forkserver": Launch(
        "a server that imported nothing forks every process; all share one hash seed",
        shares_seed=True,
    ),
}
"""Start methods; `launch` in asv's parameters and in stored data."""
SHARING_A_SEED = tuple(name for name, one in LAUNCHES.items() if one.shares_seed)
MEASURES: dict[Measure, str] = {
    "timing": "times and memory, without probes",
    "counting": "the ledger and exact counts, from probes on caches and compilers; no times",
    "work": "instructions, from a hardware counter or valgrind; machine code for one pinned CPU",
    "tracing": "calls of Python functions (sys.monitoring, Python >= 3.12)",
}
"""Passes."""
OUTCOMES = {
    "hit": "loaded from a disk cache",
    "miss": "not found in a disk cache: compiled and stored",
    "uncacheable": "a cache refused to store it",
    "internal": "compiled without a lookup in a cache",
}
STATUSES = {
    "ok": "measured",
    "unavailable": "the subject cannot be measured in this cell; the reason says why",
    "raised": "the measured process raised an exception",
    "killed": "the measured process died of a signal",
    "timeout": "the measured process exceeded its time limit and was killed",
}
SAMPLE_SCHEMA = "observatory/sample/1"
"""Name and version of the record that one sample prints; published in docs/schemas/."""
FATES: Mapping[str, str] = {
    "wrong": "it returns another value than the reference",
    "collided": "it is right only with a cache of its own: it shares a key with another graph",
    "raised": "it raises an exception, or ends its process",
    "unstable": "an equal graph is in the cache, and is not found",
    "miss": "a function is not found in the cache and is compiled again",
    "uncacheable": "the cache refuses to store a function",
    "uncached": "none of its functions is looked up in a cache",
    "python": "an Op runs in Python",
    "hit": "the cache returns all of its functions",
    "right": "it is right beside the other graph of its pair",
    "counted": "a number that was counted; the model and the row say what it is",
    "absent": "the release does not have it",
}
"""What becomes of one graph of many in a process that starts from a filled cache."""


def no_such(noun: str, word: str, known: Iterable[str], most: int = 60) -> str:
    """Say in a sentence that a word is not known, which one may be meant, and which there are.

    Of more than ``most`` words the closest are listed.

    >>> no_such("backend", "NUMB", ("C", "NUMBA"))
    "there is no backend 'NUMB' (did you mean 'NUMBA'?); choose from C, NUMBA"
    """
    words = list(known)
    close = _closest(word, words)
    shown = words if len(words) <= most else [*close, *(one for one in words if one not in close)]
    rest = f" and {len(words) - most} more" if len(words) > most else ""
    listed = ", ".join(shown[:most]) + rest
    return f"there is no {noun} {word!r}{did_you_mean(word, words)}; " + (
        f"choose from {listed}" if words else "there is none to choose from"
    )


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Ask in brackets, after a space, about the known word that may be meant; empty: none is close.

    >>> did_you_mean("3.3.66", ("3.3.6", "3.3.7"))
    " (did you mean '3.3.6'?)"
    """
    return next((f" (did you mean {one!r}?)" for one in _closest(word, known)), "")


def _closest(word: str, known: Iterable[str]) -> list[str]:
    """The known words that a word may stand for, the most similar first."""
    written = {one.lower(): one for one in reversed(list(known))}
    return [written[one] for one in get_close_matches(word.lower(), written, n=8, cutoff=0.55)]
