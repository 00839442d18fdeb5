"""Records of caches under faults. FOR TESTS ONLY: nothing here was tried."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from observatory.store.records.torture import Fault, Outcome, Torture, Tried
from tests.factories import subject

STARTED = datetime(2026, 11, 26, 4, 0, tzinfo=UTC)


def fault(
    name: str,
    verdict: str | None = "safe",
    after: str | None = None,
    left: int | None = None,
    **changes: Any,
) -> Fault:
    """A fault of numba's cache that came out alike in three steps; ``after``: as ``verdict``."""
    after = after if after is not None else verdict
    outcome = {
        "verdict": verdict, "after": after, "detail": f"EOFError: {name}", "cases": 3,
        "steps": "0 ... 9", "left": left,
    }  # fmt: skip
    given: dict[str, Any] = {
        "name": name, "cache": "numba", "group": "files", "what": f"{name} is done",
        "certain": True, "verdict": verdict, "after": after,
        "outcomes": [Outcome.model_validate(outcome)] if verdict else [],
        "skipped": "" if verdict else "no compiler", "seconds": 2.0,
    }  # fmt: skip
    return Fault.model_validate(given | changes)


def torture(
    label: str = "3.3.8",
    faults: list[Fault] | None = None,
    date: datetime = STARTED,
    machine: str = "bench",
    **changes: Any,
) -> Torture:
    """A record as `observatory torture` writes it."""
    tried = Tried(subject=subject(label, date=date), machine=machine)
    given: dict[str, Any] = {
        "tried": tried,
        "environment": {"pytensor": label, "numba": "0.68.0", "python": "3.13.0"},
        "steps": 12,
        "faults": faults if faults is not None else [fault("index_empty"), fault("full")],
        "seconds": 600.0, "cpu_seconds": 900.0, "load": 1.5, "started_at": STARTED,
    }  # fmt: skip
    return Torture.model_validate(given | changes)
