"""Ops with C code of their own, some of them broken.

PyTensor's C cache pickles them, and pickle looks their classes up by name. asv imports this module
where there is no PyTensor, so that the classes are made when they are asked for.
"""

from __future__ import annotations

import pickle
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

_ARGUMENT = "OBSERVED_FACTOR"
_HEADER = "observed_factor.h"
_CODE = """
Py_XDECREF({out});
{out} = (PyArrayObject*)PyArray_NewCopy({x}, NPY_CORDER);
if (!{out}) {{ {fail} }}
for (npy_intp i = 0; i < PyArray_SIZE({out}); i++) {{
    ((npy_float64*)PyArray_DATA({out}))[i] *= {factor};
}}
"""


class Unpicklable:
    """An object that cannot be pickled; two with one name are equal."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unpicklable) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> NoReturn:
        raise pickle.PicklingError("this is made so that it cannot be pickled")


def __getattr__(name: str) -> Any:
    """Return a class of Ops: one of those of `_classes`. Raises AttributeError."""
    if name.startswith("_"):
        raise AttributeError(name)
    return getattr(_classes(), name)


@cache
def _classes() -> SimpleNamespace:
    from pytensor.graph.basic import Apply
    from pytensor.link.c.op import COp

    class Scaled(COp):  # type: ignore[misc]
        """Multiplies an array of float64 by ``factor``, of which its key knows nothing.

        ``factor``: a number, or another expression in C; ``known``: what the key has instead;
        ``version``: of its code, () for none; ``argument``: whether the factor is an argument of
        the compiler, so that one code has all factors.
        """

        __props__ = ("known",)

        def __init__(
            self,
            factor: float | str,
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
            factor = self.in_c()
            return _CODE.format(x=inputs[0], out=outputs[0], fail=sub["fail"], factor=factor)

        def in_c(self) -> str:
            """Return the factor as an expression in C."""
            return _ARGUMENT if self.argument else str(self.factor)

    classes = (Scaled, *_equal_otherwise(Scaled), _included(Scaled))
    for one in classes:
        one.__qualname__ = one.__name__
    return SimpleNamespace(**{one.__name__: one for one in classes})


def _equal_otherwise(scaled: Any) -> tuple[Any, Any]:
    class Unequal(scaled):  # type: ignore[misc]
        """Is equal to nothing but itself, so that what a file holds is never equal to it."""

        __props__ = ("known",)

        def __eq__(self, other: object) -> bool:
            return self is other

        def __hash__(self) -> int:
            return id(self)

    class Rehashed(scaled):  # type: ignore[misc]
        """Is equal to all others of its class, and has another hash: its ``known`` number."""

        __props__ = ("known",)

        def __eq__(self, other: object) -> bool:
            return type(self) is type(other)

        def __hash__(self) -> int:
            return hash(self.known)

    return Unequal, Rehashed


def _included(scaled: Any) -> Any:
    class Included(scaled):  # type: ignore[misc]
        """Has its factor from a file in a directory, which it writes as a part of its code.

        The factor is its version, too, which alone tells that the file differs.
        """

        def __init__(self, factor: int, directory: str) -> None:
            super().__init__(factor, "header", (factor,))
            self.directory = directory

        def c_headers(self, **_: Any) -> list[str]:
            return [f'"{_HEADER}"']

        def c_header_dirs(self, **_: Any) -> list[str]:
            return [self.directory]

        def in_c(self) -> str:
            defined = f"#define {_ARGUMENT} {self.factor}\n"
            Path(self.directory, _HEADER).write_text(defined, encoding="utf-8")
            return _ARGUMENT

    return Included
