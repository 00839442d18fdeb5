"""Pairs whose C code is one text: a module is found by its key, and else by a hash of its code.

That hash must have the arguments of the compiler. Where it is equal, another key must find the
module, and nothing is compiled.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .draft import Draft
from .pair import Pair, differ, equal

_C = ("VMLinker", "CLinker")


def _by_argument(d: Draft, factor: float) -> Any:
    from ..c_ops import ByArgument

    return ByArgument(factor)(d.vector())


def _noted(note: str) -> Any:
    def build(d: Draft) -> Any:
        from ..c_ops import Noted

        return Noted(5.0, note)(d.vector())

    return build


PAIRS: Mapping[str, Pair] = {
    "differ.modules.arguments": differ(_by_argument, 2.0, 3.0, linkers=_C),
    "equal.modules.one_code": equal(_noted("first"), _noted("second"), linkers=_C),
}
