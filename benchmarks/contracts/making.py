"""Functions made and compiled as PyTensor makes and compiles its own."""

from __future__ import annotations

import ctypes
import importlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.contracts.contract import Unavailable

FIRST_CACHE = "2.36.0"
UNWRAPPED = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""The flags of functions that only other compiled functions call."""


def cache_module() -> Any:
    """`pytensor.link.numba.cache`. Raises Unavailable where PyTensor has no cache of its own."""
    name = "pytensor.link.numba.cache"
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise Unavailable(
            f"PyTensor {version('pytensor')} has no cache of its own for numba "
            f"(it came with {FIRST_CACHE})"
        ) from error


def has(module: str) -> bool:
    """Whether this PyTensor has a module of that name among its numba dispatches."""
    # Looked for and not imported: importing it may be what fails.
    import pytensor

    place = Path(pytensor.__file__).parent / "link" / "numba" / "dispatch"
    return place.joinpath(*module.split(".")).with_suffix(".py").is_file()


def function(source: str, key: str | None = None, **names: Any) -> Any:
    """A Python function from source, registered for PyTensor's cache under ``key`` if given."""
    found = re.match(r"def (\w+)", source)
    assert found is not None
    module = cache_module()
    return module.compile_numba_function_src(
        source, found[1], {"__name__": module.__name__, **names}, cache_key=key
    )


def compiled(source: str, key: str | None = None, **names: Any) -> Any:
    """The same as a dispatcher of numba's, cached if it has a key. Nothing is compiled yet."""
    import numba

    return numba.njit(function(source, key, **names), cache=key is not None)


def pointing(name: str, key: str) -> Any:
    """A function that calls C by a pointer, which means nothing to another process."""
    call = ctypes.CDLL(None).abs
    call.argtypes, call.restype = [ctypes.c_int], ctypes.c_int
    return function(f"def {name}(x): return call(x)", key, call=call)


def hits(dispatcher: Any) -> int:
    """How many of a dispatcher's signatures came from its cache."""
    return sum(dispatcher.stats.cache_hits.values())


def files(key: str) -> list[Path]:
    """The files in PyTensor's cache whose name holds the key, sorted."""
    directory = Path(cache_module().NUMBA_CACHE_PATH)
    return sorted(path for path in directory.iterdir() if key in path.name)


def symbols(dispatcher: Any) -> frozenset[str]:
    """The symbols that the compiled signatures of a dispatcher define."""
    text = "\n".join(dispatcher.inspect_llvm().values())
    return frozenset(re.findall(r'^define [^@]*@"?([^"(]+)"?\(', text, re.MULTILINE))


@contextmanager
def counter(replacement: Any) -> Iterator[None]:
    """Put something else in the place of numba's counter of functions."""
    from numba.core.bytecode import FunctionIdentity

    # Looked up in the class itself: an inherited one would stay behind.
    original = FunctionIdentity.__dict__["_unique_ids"]
    FunctionIdentity._unique_ids = replacement
    try:
        yield
    finally:
        FunctionIdentity._unique_ids = original
