"""What a Scan stores: one value where only the last is asked for, also if it may end early."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ops.case import SCALAR, Cases
from ..ops.loops import scan
from .topic import topic

_STORED = ("stored_steps",)
_STEPS = 50


def _loop(asked: Callable[[Any], Any], ends: bool) -> Callable[..., Any]:
    """A loop of at most fifty steps, of which ``asked`` takes some values."""

    def built(_: Any, x: Any) -> Any:
        from pytensor.scan.utils import until

        def step(before: Any) -> Any:
            after = before * 1.0625
            return (after, until(after > 10.0)) if ends else after

        return asked(scan(step, outputs_info=[x], n_steps=_STEPS))

    return built


def _right(asked: Callable[[Any], Any], ends: bool) -> Callable[..., Any]:
    def right(np: Any, x: Any) -> Any:
        found = x * 1.0625 ** np.arange(1.0, _STEPS + 1.0)
        return asked(found[: np.argmax(found > 10.0) + 1] if ends else found)

    return right


_ASKED: dict[str, Callable[[Any], Any]] = {
    "all": lambda values: values,
    "last": lambda values: values[-1],
    "last_two": lambda values: values[-2:],
}

CASES: Cases = {
    f"{name}.{asked}": topic(_loop(take, ends), _right(take, ends), SCALAR, tells=_STORED)
    for name, ends in (("for", False), ("while", True))
    for asked, take in _ASKED.items()
}
