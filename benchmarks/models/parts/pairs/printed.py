"""Pairs of Ops whose properties differ and have one text: a key must not be made from the text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .draft import Draft
from .numba_ops import scaled
from .pair import OF_NUMBA, Pair, differ


@dataclass(frozen=True)
class Reticent:
    """A number that its text does not say. PyTensor pickles it, so that it is no local class."""

    number: float

    def __repr__(self) -> str:
        return "a number"


def _by(hold: Callable[[Reticent], object]) -> Callable[[Draft, float], Any]:
    return lambda d, factor: scaled(("held",))(factor, held=hold(Reticent(factor)))(d.vector())


PAIRS: Mapping[str, Pair] = {
    "differ.printed.property": differ(_by(lambda one: one), 2.0, 3.0, linkers=OF_NUMBA),
    "differ.printed.in_tuple": differ(_by(lambda one: (1, one)), 2.0, 3.0, linkers=OF_NUMBA),
}
