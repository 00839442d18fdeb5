"""The messages of the contracts: what the checking process writes, and the record that is printed.

docs/schemas/contracts-1.json publishes the form of the record, which the tool reads.
"""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.contracts.contract import Status

SCHEMA = "observatory/contracts/1"


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
