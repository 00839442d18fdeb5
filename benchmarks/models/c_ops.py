"""Ops with C code of their own: without a version, without a pickle, or with a wrong equality.

PyTensor's C cache finds a module by its key, which contains the Ops. It must do without a file for
a key that cannot be pickled or has no version. It must refuse an Op that is not equal to itself, or
that is equal to another one with another hash: such an Op would be compiled again in every process.
The compiler refuses an Op whose code is not C. Whoever has mended the Op then goes on in the same
process, where the next Op must work.

Other graphs look at what the cache does beside returning modules, also for other processes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import Model
from .parts import c_sharing
from .parts.ops.case import Case, Cases
from .parts.small import SmallModel, point
from .parts.topics.topic import Used, raised, used

_Make = Callable[[], Any]
"""Returns an Op."""


def _function(op: Any, mode: Any) -> Callable[[], Any]:
    """Compile an Op; what it returns calls the function."""
    import pytensor
    import pytensor.tensor as pt

    x = pt.vector("x", dtype="float64")
    function = pytensor.function([x], op(x), mode=mode)
    return lambda: function(point())


def _scaled(factor: float | str, known: object = None, version: tuple[int, ...] = (1,)) -> _Make:
    def make() -> Any:
        from .parts.c_ops import Scaled

        return Scaled(factor, known, version)

    return make


def _unpicklable(factor: float, name: str) -> _Make:
    def make() -> Any:
        from .parts.c_ops import Scaled, Unpicklable

        return Scaled(factor, Unpicklable(name))

    return make


def _works(first: _Make, second: _Make, factor: float) -> Case:
    """Two Ops with one C code: the second finds in memory what the first has compiled, twice."""

    def made(mode: Any) -> Used:
        def further() -> Any:
            _function(second(), mode)
            return _function(second(), mode)()

        return Used(_function(first(), mode), further)

    return used(made, lambda _: point() * factor, lambda _: point() * factor)


def _refused(*ops: _Make, good: float) -> Case:
    """The last of some Ops is refused, and a right one works after it."""

    def made(mode: Any) -> Used:
        from pytensor.link.c.exceptions import CompileError

        *before, broken = [make() for make in ops]
        for op in before:
            _function(op, mode)
        return Used(
            lambda: raised(lambda: _function(broken, mode), AssertionError, CompileError),
            lambda: _function(_scaled(good)(), mode)(),
        )

    return used(made, lambda np: np.array(1.0), lambda _: point() * good)


def _unequal() -> Any:
    from .parts.c_ops import Unequal

    return Unequal(13.0)


def _rehashed(factor: float, number: int) -> _Make:
    def make() -> Any:
        from .parts.c_ops import Rehashed

        return Rehashed(factor, number)

    return make


GRAPHS: Cases = {
    "unpicklable.equal": _works(_unpicklable(2.0, "one"), _unpicklable(2.0, "one"), 2.0),
    "unpicklable.one_code": _works(_unpicklable(3.0, "one"), _unpicklable(3.0, "other"), 3.0),
    "unpicklable.first": _works(_unpicklable(4.0, "one"), _scaled(4.0, "one"), 4.0),
    "unpicklable.second": _works(_scaled(5.0, "one"), _unpicklable(5.0, "one"), 5.0),
    "unversioned.one_code": _works(_scaled(16.0, "one", ()), _scaled(16.0, "other", ()), 16.0),
    "refused.one_code": _refused(_rehashed(6.0, 1), _rehashed(6.0, 2), good=7.0),
    "refused.other_hash": _refused(_rehashed(8.0, 1), _rehashed(9.0, 2), good=10.0),
    "refused.unequal": _refused(_unequal, good=12.0),
    "refused.does_not_compile": _refused(_scaled("undeclared"), good=14.0),
    **c_sharing.GRAPHS,
}

MODEL = Model(
    meaning="Ops with C code, some of them broken: what C's cache stores, finds and warns of",
    reference="NumPy",
    build=lambda _: SmallModel(GRAPHS),
    families=("topics",),
    members=tuple(GRAPHS),
    only=("C", "C_VM"),
    because="the other backends have no C code",
    size=1.4,
    order=8,
)
