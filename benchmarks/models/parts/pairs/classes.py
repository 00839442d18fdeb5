"""Pairs of graphs that differ in the class of an Op alone.

Properties, texts and the names of the compiled functions are equal. The implementations are not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .draft import Draft
from .numba_ops import scaled
from .pair import OF_NUMBA, Pair, differ
from .versions import PROPERTIES


def _of_class(held: Any) -> Any:
    def build(d: Draft, name: str) -> Any:
        factor = {"Doubled": 2.0, "Tripled": 3.0}[name]
        return scaled(() if held is None else ("held",), name=name)(factor, held=held)(d.vector())

    return build


PAIRS: Mapping[str, Pair] = {
    f"differ.class.{name}": differ(_of_class(held), "Doubled", "Tripled", linkers=OF_NUMBA)
    for name, held in PROPERTIES.items()
}
