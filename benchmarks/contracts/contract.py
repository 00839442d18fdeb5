"""What a contract is, how its check says that it does not hold, and what is recorded of it.

docs/schemas/contracts-1.json publishes the form of `ContractsRecord`, which the tool reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from benchmarks.workers import one_line

SCHEMA = "observatory/contracts/1"
Status = Literal["holds", "broken", "unavailable", "failed"]
"""`unavailable`: this PyTensor has no such thing; `failed`: the check itself went wrong."""


Check = Callable[[], str]
"""Returns what was seen, as a sentence. Raises Broken or Unavailable."""


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
    check: Check


@dataclass(frozen=True)
class Area:
    """Contracts about one thing, checked one after another in one process."""

    name: str
    contracts: list[Contract] = field(default_factory=list)

    def contract(self, name: str, holds: str, needed: str) -> Callable[[Check], Check]:
        """Return a decorator that adds a contract with the decorated check to the area."""

        def add(check: Check) -> Check:
            self.contracts.append(Contract(name, holds, needed, check))
            return check

        return add


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


@dataclass(frozen=True)
class Verdict:
    """What became of one contract."""

    name: str
    status: Status
    detail: str
    """What was seen, as a sentence."""
    seconds: float


@dataclass(frozen=True)
class Progress:
    """A line of the checking process's report: it has begun a contract, or has checked it."""

    name: str
    verdict: Verdict | None = None
    """None: it has begun."""


@dataclass(frozen=True)
class ContractRecord:
    """One contract, with what became of it."""

    area: str
    name: str
    holds: str
    """What must hold, as a sentence."""
    needed: str
    """What of PyTensor breaks otherwise, as a sentence."""
    status: Status
    detail: str
    seconds: float


@dataclass(frozen=True)
class ContractsRecord:
    """The contracts of one environment; `observatory.store.records` describes the fields."""

    schema: str
    environment: dict[str, str | None]
    declared: str | None
    contracts: tuple[ContractRecord, ...]
    seconds: float
    started_at: str
    """ISO 8601, with the time zone."""
