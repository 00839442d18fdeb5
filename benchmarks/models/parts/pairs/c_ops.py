"""An Op with C code of its own.

PyTensor's C cache pickles it, and pickle looks its class up by name. asv imports this module where
there is no PyTensor, so that the class is made when it is asked for.
"""

from __future__ import annotations

from functools import cache
from typing import Any

_ARGUMENT = "OBSERVED_FACTOR"
_CODE = """
Py_XDECREF({out});
{out} = (PyArrayObject*)PyArray_NewCopy({x}, NPY_CORDER);
if (!{out}) {{ {fail} }}
for (npy_intp i = 0; i < PyArray_SIZE({out}); i++) {{
    ((npy_float64*)PyArray_DATA({out}))[i] *= {factor};
}}
"""


def __getattr__(name: str) -> Any:
    """Return the class `Scaled`. Raises AttributeError for another name."""
    if name != "Scaled":
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return _scaled()


@cache
def _scaled() -> Any:
    from pytensor.graph.basic import Apply
    from pytensor.link.c.op import COp

    class Scaled(COp):  # type: ignore[misc]
        """Multiplies an array of float64 by ``factor``, of which its key knows nothing.

        ``known``: what the key has instead; ``version``: of its code, () for none; ``argument``:
        whether the factor is an argument of the compiler, so that one code has all factors.
        """

        __props__ = ("known",)

        def __init__(
            self,
            factor: float,
            known: object = None,
            version: tuple[int, ...] = (1,),
            *,
            argument: bool = False,
        ) -> None:
            self.factor, self.known, self.version, self.argument = factor, known, version, argument

        def make_node(self, x: Any) -> Any:
            return Apply(self, [x], [x.type()])

        def perform(self, _node: Any, inputs: Any, outputs: Any) -> None:
            outputs[0][0] = inputs[0] * self.factor

        def c_code_cache_version(self) -> tuple[int, ...]:
            return self.version

        def c_compile_args(self, **_: Any) -> list[str]:
            return [f"-D{_ARGUMENT}={self.factor}"] if self.argument else []

        def c_code(self, _node: Any, _name: str, inputs: Any, outputs: Any, sub: Any) -> str:
            factor = _ARGUMENT if self.argument else str(self.factor)
            return _CODE.format(x=inputs[0], out=outputs[0], fail=sub["fail"], factor=factor)

    Scaled.__qualname__ = Scaled.__name__
    return Scaled
