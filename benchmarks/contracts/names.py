"""Contracts about the names of numba that PyTensor imports and calls, and about their arguments.

The names and arguments are read from the sources of the installed PyTensor, so that whatever a
release begins to use is checked from its first day. Only numba is imported: otherwise a name that
PyTensor itself puts into numba would seem to belong to numba.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from types import ModuleType
from typing import Any

from ..raised import one_line
from . import making
from .making import Area, Contract, need

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
_PACKAGES = ("numba", "llvmlite")
_SHOWN = 3


@dataclass(frozen=True)
class Use:
    """One place in PyTensor's sources that uses a name of numba."""

    path: str
    """The full path: numba.core.cgutils.alloca_once."""
    place: str
    """File and line."""
    call: tuple[int, tuple[str, ...]] | None = None
    """The number of positional arguments and the names of the others; None: no call."""
    complete: bool = True
    """Whether these are all arguments: `f(*x)` and `f(**x)` hide some."""


@lru_cache(maxsize=1)
def _uses() -> tuple[Use, ...]:
    """Every use in the PyTensor of this environment, sorted by path and place."""
    files = making.sources("pytensor", *_PACKAGES)
    found = (use for place, text in files for use in uses_in(text, place))
    # An attribute of that name is one that PyTensor itself puts there.
    numbas = (use for use in found if "pytensor" not in use.path)
    return tuple(sorted(numbas, key=lambda use: (use.path, use.place, str(use.call))))


def uses_in(text: str, file: str) -> Iterator[Use]:
    """Give the uses in the text of one source file; `Use.place` contains the name ``file``.

    Raises SyntaxError for a text that is not Python.
    """
    nodes = list(ast.walk(ast.parse(text)))
    bound = dict(binding for node in nodes for binding in _bindings(node))
    calls = {id(node.func): node for node in nodes if isinstance(node, ast.Call)}
    inner = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            for _, imported in _bindings(node):
                yield Use(imported, f"{file}:{node.lineno}")
        elif isinstance(node, ast.Attribute | ast.Name) and id(node) not in inner:
            path = _path(node, bound)
            if path is not None:
                yield Use(path, f"{file}:{node.lineno}", *_arguments(calls.get(id(node))))


def _bindings(node: ast.AST) -> Iterator[tuple[str, str]]:
    """The names of numba's that an import binds, and what they stand for."""
    if isinstance(node, ast.Import):
        for name in node.names:
            if _is_numbas(name.name):
                whole = name.name if name.asname else name.name.partition(".")[0]
                yield name.asname or whole, whole
    elif isinstance(node, ast.ImportFrom) and _is_numbas(node.module) and not node.level:
        for name in node.names:
            yield name.asname or name.name, f"{node.module}.{name.name}"


def _is_numbas(module: str | None) -> bool:
    return (module or "").partition(".")[0] in _PACKAGES


def _path(node: ast.expr, bound: dict[str, str]) -> str | None:
    """What `a.b.c` stands for; None if it does not begin with a name of numba's."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in bound:
        return None
    return ".".join([bound[node.id], *reversed(names)])


def _arguments(call: ast.Call | None) -> tuple[tuple[int, tuple[str, ...]] | None, bool]:
    """The fields `call` and `complete` of a use."""
    if call is None:
        return None, True
    positional = [one for one in call.args if not isinstance(one, ast.Starred)]
    named = tuple(one.arg for one in call.keywords if one.arg is not None)
    complete = len(positional) == len(call.args) and len(named) == len(call.keywords)
    return (len(positional), named), complete


def _check(module: str) -> str:
    def innermost(use: Use) -> str:
        return max((name for name in MODULES if f"{use.path}.".startswith(f"{name}.")), key=len)

    uses = [use for use in _uses() if innermost(use) == module]
    if not uses:
        raise making.unavailable(f"uses nothing of {module}")
    wrong: dict[str, str] = {}
    for use in uses:
        if (problem := problem_of(use)) is not None:
            wrong.setdefault(problem, use.place)
    shown = [f"{problem} ({place})" for problem, place in wrong.items()]
    more = f"; and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
    need(not shown, "; ".join(shown[:_SHOWN]) + more)
    calls = sum(use.call is not None for use in uses)
    return f"{len({use.path for use in uses})} names and {calls} calls of them fit"


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


AREA = Area(
    "names",
    [
        Contract(
            "names",
            f"names:{module}",
            f"{module} has the names that PyTensor uses, with the same arguments",
            f"PyTensor's numba backend raises when it is imported or used; it needs this for {why}",
            partial(_check, module),
        )
        for module, why in MODULES.items()
    ],
)
