"""What a contract is, how its check reports that it is broken, and what is recorded about it.

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
    """Raised by the check of a broken contract; the message says what was seen instead."""


class Unavailable(Exception):
    """Raised where this PyTensor has no such thing; the message is the reason."""


@dataclass(frozen=True)
class ContractRecord:
    """One contract and the result of its check."""

    area: str
    name: str
    holds: str
    """What must hold, as a sentence."""
    needed: str
    """What in PyTensor fails otherwise, as a sentence."""
    status: Status
    detail: str
    """What was seen, as a sentence."""
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


@dataclass(frozen=True)
class Contract:
    """An undocumented behaviour of numba that PyTensor relies on; fields as in ContractRecord."""

    area: str
    name: str
    holds: str
    needed: str
    check: Check

    def record(self, status: Status, detail: str) -> ContractRecord:
        """Return the record of a check that took 0 seconds; it cuts long details."""
        words = (self.area, self.name, self.holds, self.needed)
        return ContractRecord(*words, status, detail[:3000], seconds=0.0)


@dataclass(frozen=True)
class Area:
    """Contracts about one subject, checked one after another in one process."""

    name: str
    contracts: list[Contract] = field(default_factory=list)

    def contract(self, holds: str, needed: str) -> Callable[[Check], Check]:
        """Return a decorator that adds a contract to the area.

        The decorated function is its check, and gives it its name, without the underscore.
        """

        def add(check: Check) -> Check:
            name = check.__name__.removeprefix("_")
            self.contracts.append(Contract(self.name, name, holds, needed, check))
            return check

        return add


@contextmanager
def promised(what: str) -> Iterator[None]:
    """Raise Broken if the block raises: something that PyTensor expects to work does not.

    ``what``: what should work, e.g. "numba compiles with it". Broken, Unavailable and TimeoutError
    pass unchanged: that something took too long decides nothing.
    """
    try:
        yield
    except (Broken, Unavailable, TimeoutError):
        raise
    except Exception as error:
        raise Broken(f"it is not true that {what}: {one_line(error)}") from error


def need(condition: object, otherwise: str) -> None:
    """Raise Broken with the sentence ``otherwise`` if the condition is not met."""
    if not condition:
        raise Broken(otherwise)
