"""Pairs of graphs that differ in the version of an Op's implementation alone.

A release that corrects an implementation raises its version, so that nobody gets the code that an
earlier release has stored. The texts of the two graphs are equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .draft import Draft
from .numba_ops import scaled
from .pair import OF_NUMBA, Pair, differ

PROPERTIES = {"none": None, "simple": 3, "pickled": ((1, 2), (3,))}
"""A property for each way in which PyTensor makes a key of them."""


def _of_version(held: Any) -> Any:
    def build(d: Draft, version: int) -> Any:
        op = scaled(() if held is None else ("held",))
        return op(float(version), version=version, held=held)(d.vector())

    return build


PAIRS: Mapping[str, Pair] = {
    f"differ.version.{name}": differ(_of_version(held), 2, 3, linkers=OF_NUMBA)
    for name, held in PROPERTIES.items()
}
