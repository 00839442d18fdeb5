"""What a contract is, and how it says that it does not hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

SCHEMA = "observatory/contracts/1"
HOLDS, BROKEN, UNAVAILABLE, FAILED = "holds", "broken", "unavailable", "failed"
_LONGEST = 1000


class Broken(Exception):
    """Raised by a contract that does not hold; the message says what was seen instead."""


class Unavailable(Exception):
    """Raised where this PyTensor has no such thing; the message is the reason."""


@dataclass(frozen=True)
class Contract:
    """Something of numba that is documented nowhere, and that PyTensor relies on."""

    name: str
    holds: str
    """What must hold, as a sentence."""
    needed: str
    """What of PyTensor breaks otherwise, as a sentence."""
    check: Callable[[], str]
    """Looks whether it holds and says what was seen. Raises Broken and Unavailable."""


@dataclass(frozen=True)
class Area:
    """Contracts about one thing, checked one after another in one process."""

    name: str
    contracts: tuple[Contract, ...]


@contextmanager
def promised(what: str) -> Iterator[None]:
    """Where numba raises in what PyTensor expects to work, the contract is broken and not failed.

    ``what``: what was to work, e.g. "numba compiles with it". That something took too long decides
    nothing: a TimeoutError stays what it is.
    """
    try:
        yield
    except (Broken, Unavailable, TimeoutError):
        raise
    except Exception as error:
        raise Broken(f"not so: {what}: {told(error)}") from error


def told(error: BaseException) -> str:
    """An exception in one line: numba's messages are pages."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:_LONGEST]


def need(condition: object, otherwise: str) -> None:
    """Raise Broken with the sentence ``otherwise`` if the condition is not met."""
    if not condition:
        raise Broken(otherwise)
