"""Probe on what a backend leaves to Python: numba's object mode, and Ops without C code."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_OBJECT_MODE = re.compile(
    r"Numba will use object mode to (?:run (?P<op>.+?)'s perform|(?P<why>.+))"
)


@contextmanager
def noticing() -> Iterator[list[str]]:
    """Collect the names of the Ops that builds inside the block leave to Python.

    numba's dispatch says so in a warning, also where the rest of a function comes from the cache.
    A virtual machine makes a Python thunk instead of a C thunk. Imports PyTensor.
    """
    from pytensor.graph.op import Op
    from pytensor.link.vm import VMLinker

    found: list[str] = []
    linking = False
    make_thunk, make_all = Op.make_py_thunk, VMLinker.make_all

    def make_py_thunk(self: Any, *args: Any, **kwargs: Any) -> Any:
        if linking:  # not while constants are folded
            found.append(str(self))
        return make_thunk(self, *args, **kwargs)

    def observed_make_all(self: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal linking
        before, linking = linking, True
        try:
            return make_all(self, *args, **kwargs)
        finally:
            linking = before

    Op.make_py_thunk, VMLinker.make_all = make_py_thunk, observed_make_all
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            yield found
    finally:
        Op.make_py_thunk, VMLinker.make_all = make_thunk, make_all
    matches = (_OBJECT_MODE.search(str(warning.message)) for warning in said)
    found += [match["op"] or match["why"] for match in matches if match]
