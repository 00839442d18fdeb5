"""Records of contracts. FOR TESTS ONLY: nothing here was looked at."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from observatory.store.records.contracts import Checked, Contract, Contracts
from tests.factories import subject

STARTED = datetime(2026, 11, 21, 20, 0, tzinfo=UTC)


def contract(name: str, status: str = "holds", **changes: Any) -> Contract:
    given: dict[str, Any] = {
        "area": "uids", "name": name, "holds": f"{name} holds", "needed": f"{name} is needed",
        "status": status, "detail": f"{name} was seen", "seconds": 0.5,
    }  # fmt: skip
    return Contract.model_validate(given | changes)


def contracts(
    numba: str = "0.68.0",
    found: list[Contract] | None = None,
    label: str = "3.3.7",
    lifted: bool = False,
    extras: tuple[str, ...] = (),
    **changes: Any,
) -> Contracts:
    """A record as `observatory contracts` writes it."""
    checked = subject(label).model_copy(
        update={"label": " ".join((label, *extras)), "extras": extras}
    )
    given: dict[str, Any] = {
        "checked": Checked(subject=checked, lifted=lifted),
        "environment": {"pytensor": label, "numba": numba, "python": "3.13.0"},
        "declared": "numba<=0.68.0,>=0.58",
        "contracts": found if found is not None else [contract("uid_fork"), contract("stamp")],
        "seconds": 20.0,
        "started_at": STARTED,
    }  # fmt: skip
    return Contracts.model_validate(given | changes)


def many_contracts() -> list[Contracts]:
    """Thirteen numbas with contracts of every status, and one beyond the bounds."""
    statuses = ("holds", "broken", "failed", "unavailable")
    found = [
        contract(f"names:numba.np.unsafe.{name}", status, detail=f"{name} was seen " * 20)
        for name, status in zip(("ndarray", "tuple", "eh", "jit"), statuses, strict=True)
    ]
    return [
        contracts(f"0.{minor}.0", found[: 1 + minor % 4], lifted=minor == 68)
        for minor in range(56, 69)
    ]
