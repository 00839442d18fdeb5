"""Contracts about the names of numba that PyTensor imports and calls, and about their arguments.

The names and arguments are read from the sources of the installed PyTensor, so that whatever a
release begins to use is checked from its first day. Only numba is imported: otherwise a name that
PyTensor itself puts into numba would seem to be numba's.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterable
from functools import lru_cache
from importlib.metadata import version
from types import ModuleType
from typing import Any

from benchmarks.contracts.contract import Area, Contract, Unavailable, need
from benchmarks.contracts.uses import Use, uses
from benchmarks.workers import one_line

MODULES = {
    "numba.core.base": "the context of its code generation",
    "numba.core.bytecode": "the counter of functions that it replaces",
    "numba.core.caching": "its locator of stored functions",
    "numba.core.cgutils": "its loops and its pointers to LAPACK",
    "numba.core.errors": "the exceptions and warnings that it handles",
    "numba.core.extending": "its own overloads and intrinsics",
    "numba.core.imputils": "its sparse matrices and elementwise loops",
    "numba.core.interpreter": "its patch for calls with many arguments",
    "numba.core.ir": "its patch for calls with many arguments",
    "numba.core.pythonapi": "results that are slices",
    "numba.core.registry": "its wrappers of BLAS and LAPACK",
    "numba.core.types": "the types of its signatures",
    "numba.cpython.unsafe.tuple": "tuples that it fills in compiled code",
    "numba.np.arraymath": "its convolutions",
    "numba.np.arrayobj": "the arrays that its loops allocate",
    "numba.np.linalg": "its linear algebra",
    "numba.np.unsafe.ndarray": "shapes that are tuples",
    "numba.extending": "its own overloads, types and intrinsics",
    "numba.types": "the types of its signatures",
    "numba": "all compiling",
    "llvmlite": "the code that it generates itself",
}
"""By module, the part of PyTensor that needs its names; the innermost module counts."""
_SHOWN = 3


def _contract(module: str, needs: str) -> Contract:
    return Contract(
        f"names:{module}",
        f"{module} has the names that PyTensor uses, with the same arguments",
        f"PyTensor's numba backend raises when it is imported or used; it needs this for {needs}",
        _checking(module),
    )


def _checking(module: str) -> Callable[[], str]:
    return lambda: _check([use for use in _uses() if _module_of(use) == module], module)


@lru_cache(maxsize=1)
def _uses() -> tuple[Use, ...]:
    # An attribute of that name is one that PyTensor itself puts there.
    return tuple(use for use in uses() if "pytensor" not in use.path)


def _module_of(use: Use) -> str:
    """The innermost known module that contains the name."""
    inside = [name for name in MODULES if f"{use.path}.".startswith(f"{name}.")]
    return max(inside, key=len)


def _check(found: Iterable[Use], module: str) -> str:
    seen: set[str] = set()
    wrong: dict[str, str] = {}
    calls = 0
    for use in found:
        seen.add(use.path)
        calls += use.call is not None
        problem = problem_of(use)
        if problem is not None:
            wrong.setdefault(problem, use.place)
    if not seen:
        raise Unavailable(f"PyTensor {version('pytensor')} uses nothing of {module}")
    shown = [f"{problem} ({place})" for problem, place in wrong.items()]
    more = f"; and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
    need(not shown, "; ".join(shown[:_SHOWN]) + more)
    return f"{len(seen)} names and {calls} calls of them fit"


def problem_of(use: Use) -> str | None:
    """Return what is wrong with a use, as a sentence; None if it fits the installed numba."""
    try:
        thing = resolve(use.path)
    except (ImportError, AttributeError) as error:
        return f"there is no {use.path}: {one_line(error)}"
    signature = None if use.call is None else _signature(thing)
    if use.call is None or signature is None:
        return None
    count, keywords = use.call
    bind = signature.bind if use.complete else signature.bind_partial
    try:
        bind(*[None] * count, **dict.fromkeys(keywords))
    except TypeError as error:
        return f"{use.path}{signature} does not take what PyTensor gives it: {error}"
    return None


def _signature(thing: Any) -> inspect.Signature | None:
    """The parameters with which something is called; None if they are unknown."""
    from numba.core.extending import _Intrinsic

    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return None
    parameters = list(signature.parameters.values())
    if isinstance(thing, _Intrinsic):  # it shows the typing context, which numba adds
        return signature.replace(parameters=parameters[1:])
    # A function without parameters is the name of an overload, which defines them elsewhere.
    return signature if parameters or inspect.isclass(thing) else None


def resolve(path: str) -> Any:
    """Return the object at a dotted path. Raises ImportError or AttributeError."""
    words = path.split(".")
    thing: Any = importlib.import_module(words[0])
    for number, word in enumerate(words[1:], start=2):
        if isinstance(thing, ModuleType) and not hasattr(thing, word):
            thing = importlib.import_module(".".join(words[:number]))
        else:
            thing = getattr(thing, word)
    return thing


AREA = Area("names", [_contract(module, needs) for module, needs in MODULES.items()])
