"""Probe on PyTensor: which functions are compiled, and for whom.

`FunctionMaker.create` links every function: those of `pytensor.function` and those that are
unpickled, whatever a cache then has of them.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import FrameType
from typing import Any

from .ledger import Ledger, shorten

PLACES = ("pytensor.compile.maker", "pytensor.compile.function.types")
"""Where `FunctionMaker` is, in newer releases and in older ones."""
_PASS_ON = (
    "compile", "compile_pymc", "compile_fn", "compile_pymc_model", "<listcomp>", "<dictcomp>",
    "<genexpr>", "<lambda>",
)  # fmt: skip
"""Functions that compile for whoever calls them."""
_INSIDE = ("pytensor", "benchmarks", "cloudpickle", "pickle", "copy", "copyreg", "functools",
           "contextlib", "cachetools")  # fmt: skip
"""Packages that compile for whoever calls them."""


def install(ledger: Ledger) -> None:
    """Hook PyTensor's compilation. Call it once in a process. Raises ImportError."""
    maker = _maker()
    original = maker.create

    def create(self: Any, *args: Any, **kwargs: Any) -> Any:
        name = shorten(_caller())
        ledger.function = name
        if ledger.recording:
            ledger.functions.append(name)
        return original(self, *args, **kwargs)

    maker.create = create


def _maker() -> Any:
    for place in PLACES:
        try:
            return import_module(place).FunctionMaker
        except (ImportError, AttributeError):
            continue
    raise ImportError("this release of PyTensor has no FunctionMaker in a known place")


def _caller() -> str:
    """The function that asked for it: the innermost one that does not only pass it on."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        module, code = frame.f_globals.get("__name__", ""), frame.f_code
        inside = module.partition(".")[0] in _INSIDE
        if not inside and code.co_name not in _PASS_ON:
            return f"{module}.{getattr(code, 'co_qualname', code.co_name)}"
        frame = frame.f_back
    return "the step itself"
