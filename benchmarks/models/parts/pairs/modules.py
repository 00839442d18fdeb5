"""Pairs of an Op with C code of its own: a module is found by its key, and else by its code's hash.

The hash must have the arguments of the compiler. Where it is equal, another key must find the
module, and nothing is compiled. The key must have the version of an implementation, and an Op
without one may not be stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .draft import Draft
from .pair import OF_C, Build, Pair, differ, equal


def _scaled(d: Draft, *options: Any, **more: Any) -> Any:
    from ..c_ops import Scaled

    return Scaled(*options, **more)(d.vector())


def _by_argument(d: Draft, factor: float) -> Any:
    return _scaled(d, factor, factor, argument=True)


def _versioned(d: Draft, factor: float) -> Any:
    return _scaled(d, factor, version=(int(factor),))


def _unversioned(d: Draft, factor: float) -> Any:
    return _scaled(d, factor, version=())


def _known_as(note: str) -> Build:
    return lambda d: _scaled(d, 5.0, note)


PAIRS: Mapping[str, Pair] = {
    "differ.modules.arguments": differ(_by_argument, 2.0, 3.0, linkers=OF_C),
    "differ.modules.version": differ(_versioned, 2.0, 3.0, linkers=OF_C),
    "differ.modules.unversioned": differ(_unversioned, 2.0, 3.0, linkers=OF_C),
    "equal.modules.one_code": equal(_known_as("first"), _known_as("second"), linkers=OF_C),
}
