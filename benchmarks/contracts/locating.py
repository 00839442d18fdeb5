"""Contracts about where numba looks for stored code, and what it refuses to store.

PyTensor puts its own locator at the front of numba's list. For the functions that PyTensor
generates, the locator returns one directory, PyTensor's key and a constant stamp.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from . import making
from .making import Area, need, promised

_STALE = "no process finds what another one stored, and each compiles everything"

AREA = Area("locator")


@AREA.contract(
    "numba asks the first of CacheImpl._locator_classes first, with the function itself",
    f"PyTensor finds its key by the function object; otherwise {_STALE}",
)
def _locator_asked() -> str:
    from numba.core.caching import CacheImpl

    module = making.cache_module()
    locator = module.NumbaPyTensorCacheLocator
    first = CacheImpl._locator_classes[:1]
    need(first == [locator], f"the first of numba's locators is {first}")
    function = making.function("def locator_asked(x): return x + 1", "locator_asked")
    with making.following(locator, "from_function") as asked:
        _compile(function)
    need(asked, "numba did not ask PyTensor's locator")
    itself = all(arguments[0] is function for arguments, _ in asked)
    need(itself, "numba asked for another object than the function that PyTensor registered")
    need(making.files("locator_asked"), f"nothing was stored in {module.NUMBA_CACHE_PATH}")
    return "it was asked first, with the function itself, and its directory was used"


@AREA.contract(
    "if PyTensor's locator returns None, numba asks the next one",
    "functions of other libraries would land in PyTensor's cache, or not be cached at all",
)
def _locator_passes_on() -> str:
    import numba

    module = making.cache_module()
    with (
        making.following(module.NumbaPyTensorCacheLocator, "from_function") as asked,
        promised("numba stores a function that PyTensor does not know"),
    ):
        plain = numba.njit(unregistered, cache=True)
        plain(1.0)
    need(asked, "numba did not ask PyTensor's locator")
    need(all(found is None for _, found in asked), "PyTensor's locator answered for it")
    directory = Path(plain.stats.cache_path)
    apart = directory != Path(module.NUMBA_CACHE_PATH)
    need(apart, f"it was stored among PyTensor's functions: {directory}")
    need(any(directory.glob("*.nbi")), f"it was not stored in {directory}")
    return "it was asked and returned None, and the function was stored elsewhere"


def unregistered(x: float) -> float:
    """A function that PyTensor does not know; returns ``x + 1``."""
    return x + 1.0


@AREA.contract(
    "a stored function is one .nbi and one .nbc file, with its name and whole key in both",
    "a truncated key gives the code of another function: wrong results",
)
def _two_files() -> str:
    key = "b" * 64 + "_fastmath1"
    _compile(making.function("def index_named(x): return x + 1", key))
    names = [path.name for path in making.files(key)]
    seen = ", ".join(names) or "no files with the key in their names"
    suffixes = sorted(Path(name).suffix for name in names)
    need(suffixes == [".nbc", ".nbi"], f"stored were {seen}")
    named = all("index_named" in name for name in names)
    need(named, f"the name of the function is not in the names {seen}")
    return f"the files are {' and '.join(names).replace(key, 'KEY')}"


@AREA.contract(
    "functions with different disambiguators have different index files",
    "PyTensor distinguishes functions only by that: wrong results",
)
def _key_changes_index() -> str:
    for key in ("other_key_one", "other_key_two"):
        dispatcher = _compile(making.function("def other_key(x): return x + 1", key))
        need(not making.hits(dispatcher), f"{key} was loaded, though only another key was stored")
    one, two = making.files("other_key_one"), making.files("other_key_two")
    need(one and two and not set(one) & set(two), "two keys share a file")
    return "two keys have two indexes"


@AREA.contract(
    "functions with one disambiguator share an entry, whatever their globals are",
    f"PyTensor makes a new function object and new globals each time; otherwise {_STALE}",
)
def _key_keeps_index() -> str:
    # Exactly what PyTensor makes for each Op: all that differs is a global variable.
    source = "def same_key(*x): return jitable(*x)"
    with promised("numba stores a function, and loads it when its globals are others"):
        for jitable in ("def one(x): return x + 1", "def two(x): return x + 1"):
            again = making.compiled(source, "same_key", jitable=making.compiled(jitable))
            need(again(1.0) == 2.0, "a function that calls another returns a wrong number")
    need(making.hits(again) == 1, "the same function with other globals was compiled again")
    need(len(making.files("same_key")) == 2, "one key has more than an index and a data file")
    return "it was loaded with other globals"


@AREA.contract(
    "an entry is valid while its stamp is the same, and invalid when it changes",
    "PyTensor's stamp is the constant 0, and changing it is how it could drop old entries",
)
def _source_stamp() -> str:
    locator = making.cache_module().NumbaPyTensorCacheLocator
    source, original = "def source_stamp(x): return x + 1", locator.get_source_stamp
    hits = []
    try:
        for stamp in (None, None, 1, 1):
            if stamp is not None:
                locator.get_source_stamp = lambda _self, stamp=stamp: stamp
            hits.append(making.hits(_compile(making.function(source, "source_stamp"))))
    finally:
        locator.get_source_stamp = original
    need(hits[1] == 1, "an entry with the same stamp was not loaded")
    need(hits[2] == 0, "an entry with an old stamp was loaded")
    need(hits[3] == 1, "an entry that replaced an old one was not loaded")
    return "it is loaded with the same stamp, and compiled again with another one"


@AREA.contract(
    "a function that calls by a pointer of this process is not stored, without an error",
    "in another process it would call whatever is at that address: crashes, wrong results",
)
def _pointers_refused() -> str:
    with warnings.catch_warnings(action="ignore"):
        dispatcher = _compile(making.pointing("pointer", "pointer_refused"), -3)
    need(not making.files("pointer_refused"), "a function with a pointer in it was stored")
    need(not making.hits(dispatcher), "a function with a pointer in it was loaded")
    return "it was not stored, and it works"


def _compile(python_function: Any, argument: Any = 1.0) -> Any:
    import numba

    with promised("numba compiles a function through PyTensor's locator"):
        dispatcher = numba.njit(python_function, cache=True)
        dispatcher(argument)
    return dispatcher
