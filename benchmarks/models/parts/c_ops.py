"""Ops with C code of their own.

PyTensor's C cache pickles them, and pickle looks classes up by name. asv imports this module where
there is no PyTensor, so that the classes are made when they are asked for.
"""

from __future__ import annotations

from functools import cache
from typing import Any

_NAMES = ("ByArgument", "Noted")
_CODE = """
Py_XDECREF({out});
{out} = (PyArrayObject*)PyArray_NewCopy({x}, NPY_CORDER);
if (!{out}) {{ {fail} }}
for (npy_intp i = 0; i < PyArray_SIZE({out}); i++) {{
    ((npy_float64*)PyArray_DATA({out}))[i] *= {factor};
}}
"""


def __getattr__(name: str) -> Any:
    """Return a class of Ops. Raises AttributeError for another name."""
    if name not in _NAMES:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return _classes()[name]


@cache
def _classes() -> dict[str, Any]:
    from pytensor.graph.basic import Apply
    from pytensor.link.c.op import COp

    class Multiplied(COp):  # type: ignore[misc]
        """Multiplies an array of float64 by ``factor``."""

        def __init__(self, factor: float) -> None:
            self.factor = factor

        def make_node(self, x: Any) -> Any:
            return Apply(self, [x], [x.type()])

        def perform(self, _node: Any, inputs: Any, outputs: Any) -> None:
            outputs[0][0] = inputs[0] * self.factor

        def c_code_cache_version(self) -> tuple[int]:
            return (1,)

        def _code(self, inputs: Any, outputs: Any, sub: Any, factor: str) -> str:
            return _CODE.format(x=inputs[0], out=outputs[0], fail=sub["fail"], factor=factor)

    class ByArgument(Multiplied):
        """Its factor is an argument of the compiler: the code is one for all factors."""

        __props__ = ("factor",)

        def c_compile_args(self, **_: Any) -> list[str]:
            return [f"-DOBSERVED_FACTOR={self.factor}"]

        def c_code(self, _node: Any, _name: str, inputs: Any, outputs: Any, sub: Any) -> str:
            return self._code(inputs, outputs, sub, "OBSERVED_FACTOR")

    class Noted(Multiplied):
        """Its note makes the key another one, and the code not."""

        __props__ = ("factor", "note")

        def __init__(self, factor: float, note: str) -> None:
            super().__init__(factor)
            self.note = note

        def c_code(self, _node: Any, _name: str, inputs: Any, outputs: Any, sub: Any) -> str:
            return self._code(inputs, outputs, sub, str(self.factor))

    made = {one.__name__: one for one in (ByArgument, Noted)}
    for name, one in made.items():
        one.__qualname__ = name
    return made
