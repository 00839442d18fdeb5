"""Helpers of the checks: make functions as PyTensor does, and observe what numba does with them."""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.contracts.contract import Unavailable

FIRST_CACHE = "2.36.0"
UNWRAPPED = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""The options of functions that only compiled functions call."""
Calls = list[tuple[tuple[Any, ...], Any]]
"""For each call, its arguments without the class or instance, and its result."""


def unavailable(why: str) -> Unavailable:
    """Return the exception for a PyTensor that lacks something; ``why`` follows its version."""
    return Unavailable(f"PyTensor {version('pytensor')} {why}")


def cache_module() -> Any:
    """Return the module `pytensor.link.numba.cache`. Raises Unavailable before PyTensor had one."""
    name = "pytensor.link.numba.cache"
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        why = f"has no cache of its own for numba (it came with {FIRST_CACHE})"
        raise unavailable(why) from error


def need_dispatch(module: str, otherwise: str) -> None:
    """Raise Unavailable if this PyTensor has no such module among its numba dispatches.

    ``otherwise``: what this PyTensor does then, as for `unavailable`.
    """
    # Looked for and not imported: importing it may be what fails.
    import pytensor

    directory = Path(pytensor.__file__).parent / "link" / "numba" / "dispatch"
    if not directory.joinpath(*module.split(".")).with_suffix(".py").is_file():
        raise unavailable(otherwise)


def sources(package: str, *words: str) -> Iterator[tuple[str, str]]:
    """Give the name and the text of each source file of a package that contains one of the words.

    The names begin with that of the package, and are sorted. The package is not imported.
    """
    found = importlib.util.find_spec(package)
    assert found is not None
    assert found.origin is not None
    directory = Path(found.origin).parent
    for path in sorted(directory.rglob("*.py")):
        text = path.read_text("utf-8", errors="replace")
        if any(word in text for word in words):
            yield str(path.relative_to(directory.parent)), text


def function(source: str, key: str | None = None, **names: Any) -> Any:
    """Return a Python function made from source by PyTensor.

    ``key``: its key in PyTensor's cache; None: it has none. ``names``: what the source may use.
    Raises Unavailable before PyTensor had a cache.
    """
    found = re.match(r"def (\w+)", source)
    assert found is not None
    module = cache_module()
    return module.compile_numba_function_src(
        source, found[1], {"__name__": module.__name__, **names}, cache_key=key
    )


def compiled(source: str, key: str | None = None, **names: Any) -> Any:
    """Return a numba dispatcher of such a function, cached if it has a key; not yet compiled."""
    import numba

    return numba.njit(function(source, key, **names), cache=key is not None)


def pointing(name: str, key: str) -> Any:
    """Return a function that calls C through a pointer, which other processes cannot use."""
    call = ctypes.CDLL(None).abs
    call.argtypes, call.restype = [ctypes.c_int], ctypes.c_int
    return function(f"def {name}(x): return call(x)", key, call=call)


def hits(dispatcher: Any) -> int:
    """Return how many signatures of a dispatcher came from its cache."""
    return sum(dispatcher.stats.cache_hits.values())


def files(key: str) -> list[Path]:
    """Return the files in PyTensor's cache whose name contains the key, sorted."""
    return sorted(Path(cache_module().NUMBA_CACHE_PATH).glob(f"*{key}*"))


def symbols(dispatcher: Any) -> frozenset[str]:
    """Return the symbols that the compiled signatures of a dispatcher define."""
    text = "\n".join(dispatcher.inspect_llvm().values())
    return frozenset(re.findall(r'^define [^@]*@"?([^"(]+)"?\(', text, re.MULTILINE))


@contextmanager
def counter(replacement: Any) -> Iterator[None]:
    """Replace numba's counter of functions by another iterator inside the block."""
    from numba.core.bytecode import FunctionIdentity

    # Looked up in the class itself: an inherited one would stay behind.
    original = FunctionIdentity.__dict__["_unique_ids"]
    FunctionIdentity._unique_ids = replacement
    try:
        yield
    finally:
        FunctionIdentity._unique_ids = original


@contextmanager
def following(owner: Any, name: str) -> Iterator[Calls]:
    """Give a list to which every call of a method is added inside the block.

    ``owner``: the class that defines the method ``name``. Raises KeyError if it does not.
    """
    original = owner.__dict__[name]
    of_class = isinstance(original, classmethod)
    function = original.__func__ if of_class else original
    calls: Calls = []

    def followed(first: Any, *arguments: Any, **keywords: Any) -> Any:
        result = function(first, *arguments, **keywords)
        calls.append(((*arguments, *keywords.values()), result))
        return result

    setattr(owner, name, classmethod(followed) if of_class else followed)
    try:
        yield calls
    finally:
        setattr(owner, name, original)
