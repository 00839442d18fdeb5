"""What a contract is, and how its check says that it does not hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from benchmarks.workers import one_line

Status = Literal["holds", "broken", "unavailable", "failed"]
"""`unavailable`: this PyTensor has no such thing; `failed`: the check itself went wrong."""


class Broken(Exception):
    """Raised by a contract that does not hold; the message says what was seen instead."""


class Unavailable(Exception):
    """Raised where this PyTensor has no such thing; the message is the reason."""


@dataclass(frozen=True)
class Contract:
    """Something undocumented in numba that PyTensor relies on."""

    name: str
    holds: str
    """What must hold, as a sentence."""
    needed: str
    """What of PyTensor breaks otherwise, as a sentence."""
    check: Callable[[], str]
    """Return what was seen, as a sentence. Raises Broken or Unavailable."""


@dataclass(frozen=True)
class Area:
    """Contracts about one thing, checked one after another in one process."""

    name: str
    contracts: tuple[Contract, ...]


@contextmanager
def promised(what: str) -> Iterator[None]:
    """Raise Broken if the block raises: what PyTensor expects to work does not.

    ``what``: what should work, e.g. "numba compiles with it". Broken, Unavailable and TimeoutError
    pass unchanged: that something took too long decides nothing.
    """
    try:
        yield
    except (Broken, Unavailable, TimeoutError):
        raise
    except Exception as error:
        raise Broken(f"not so: {what}: {one_line(error)}") from error


def need(condition: object, otherwise: str) -> None:
    """Raise Broken with the sentence ``otherwise`` if the condition is not met."""
    if not condition:
        raise Broken(otherwise)
