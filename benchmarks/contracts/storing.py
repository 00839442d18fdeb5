"""Contracts about the files of a stored function, and about functions loaded from them.

An index (.nbi) begins with numba's version and names, for each signature, the data file (.nbc) of
the compiled code. PyTensor has one directory of them for all processes and all versions of numba.
"""

from __future__ import annotations

import hashlib
import pickle
import time
from functools import partial
from typing import Any, Literal

from .. import workers
from ..fillers import new_seed
from . import making
from .making import Area, need, promised

_STALE = "every process compiles everything again, or only those with one hash seed share a cache"
_WRITES = 150
_WORD = "the sum of the county effects is not zero"

INDEX = Area("index")
LOADED = Area("loaded")


def _build(key: str) -> list[Any]:
    """What a function with this name and key returns, and whether its code was loaded."""
    dispatcher = making.compiled(f"def {key}(x): return x + 1", key)
    result = dispatcher(1.0)
    return [result, making.hits(dispatcher)]


@INDEX.contract("a process loads what another one with another hash seed stored", _STALE)
def _read_elsewhere() -> str:
    making.cache_module()
    with promised("a function is stored by one process and built by another"):
        first, second = (workers.fresh(_build, "read_elsewhere", hash_seed=n) for n in (1, 2))
    need(first == [2.0, 0], f"the process that stores got {first}")
    need(second[0] == 2.0, f"the process that loads got {second[0]} in the place of 2.0")
    need(second[1] == 1, "what one process stored another one did not load")
    return "one process stored it, and another one with another hash seed loaded it"


def _keys() -> list[str]:
    """The keys that numba asks the index for, by signatures such as PyTensor's, hashed."""
    import numpy as np
    from numba.core.caching import IndexDataCacheFile

    matrix = np.ones((4, 4))
    arguments = [
        1.0, 1, True, np.float32(1), np.ones(3), matrix, np.asfortranarray(matrix), matrix[::2],
        np.ones(3, "int32"), np.ones((), "complex128"), (1.0, np.ones(2)), np.random.default_rng(1),
    ]  # fmt: skip
    same = making.compiled("def keys_repeat(x): return 0", "keys_repeat")
    with making.following(IndexDataCacheFile, "load") as asked:
        for argument in arguments:
            same(argument)
    keys = [hashlib.sha256(repr(given[0]).encode()).hexdigest() for given, _ in asked]
    return [*keys, str(making.hits(same))]


@INDEX.contract(
    "the keys in an index are the same in every process, whatever its hash seed", _STALE
)
def _keys_repeat() -> str:
    making.cache_module()
    with promised("three processes build a function for many signatures"):
        (*first, loaded), *more = (workers.fresh(_keys, hash_seed=new_seed()) for _ in range(3))
    need(len(set(first)) == len(first) > 10, "different signatures have one key in the index")
    need(loaded == "0", "a signature was loaded before it was stored")
    for *keys, hits in more:
        need(keys == first, "another process asks the index for other keys")
        need(hits == str(len(first)), f"of {len(first)} signatures another process loaded {hits}")
    return f"three processes with three hash seeds have the same keys for {len(first)} signatures"


@INDEX.contract(
    "an entry whose data file is missing is a miss and no error",
    "every build would raise after somebody deletes files from the cache",
)
def _data_missing() -> str:
    with promised("numba stores a function"):
        _build("data_missing")
    data = [path for path in making.files("data_missing") if path.suffix == ".nbc"]
    need(data, "no data file was stored")
    for path in data:
        path.unlink()
    with promised("numba builds a function whose data file is missing"):
        need(_build("data_missing") == [2.0, 0], "a function without its data file was loaded")
    need(_build("data_missing") == [2.0, 1], "the missing data file was not written again")
    return "it was a miss, and the file was written again"


@INDEX.contract(
    "numba replaces the index of another version without loading its entries",
    "PyTensor has one cache for all versions of numba: it would load the code of another",
)
def _old_version() -> str:
    import numba

    with promised("numba stores a function"):
        _build("old_version")
    index = next(path for path in making.files("old_version") if path.suffix == ".nbi")
    begins = pickle.loads(index.read_bytes())  # noqa: S301  of our own making
    need(begins == numba.__version__, "an index does not begin with the version of numba")
    # As another numba may have left it: nothing but the version can be read.
    index.write_bytes(pickle.dumps("0.0.1") + b"\x80no pickle")
    with promised("numba builds a function whose index was written by another numba"):
        need(_build("old_version") == [2.0, 0], "an entry of another numba was loaded")
    need(_build("old_version") == [2.0, 1], "an index of another numba was not replaced")
    return "its entries were not read, and the index was replaced"


@INDEX.contract(
    "an index stays readable while several processes write it",
    "the chains of a sampler are processes that share PyTensor's cache",
)
def _writers_together() -> str:
    from numba.core.caching import IndexDataCacheFile

    directory = str(making.cache_module().NUMBA_CACHE_PATH)
    payload = b"x" * 20_000

    def file() -> Any:
        return IndexDataCacheFile(directory, "writers_together", 0)

    def write(key: str) -> None:
        for _ in range(_WRITES):
            file().flush()
            file().save(key, (key, payload))

    writers = [workers.start(partial(write, key)) for key in ("one", "two")]
    reads = 0
    end = time.monotonic() + 30
    with promised("an index can be read while two processes write it"):
        while time.monotonic() < end and not all(writer.ended() for writer in writers):
            file().load("one")
            reads += 1
    with promised("two processes can write one index at a time"):
        for writer in writers:
            writer.answer()
        file().save("one", ("one", payload))
        need(file().load("one") == ("one", payload), "what was stored last is not what is loaded")
    leftover = [path.name for path in making.files("writers_together") if ".tmp." in path.name]
    need(not leftover, f"files were left behind: {', '.join(leftover[:3])}")
    return f"{2 * _WRITES} writes and {reads} reads at the same time did not fail"


def _constant(order: Literal["C", "F"]) -> int:
    """Compile a function with a constant array; return how many signatures were loaded."""
    import numpy as np

    data = np.arange(_limit() // 8, dtype="float64").reshape(2, -1)
    given = np.asarray(data, order=order)
    keyed = making.compiled("def constant(x): return table[1, x]", f"constant_{order}", table=given)
    result = keyed(3)
    need(result == data[1, 3], f"a constant array holds {result} where {data[1, 3]} was put in")
    return making.hits(keyed)


def _limit() -> int:
    """The size in bytes up to which PyTensor relies on it; PyTensor defines it from 3.1.1 on."""
    from pytensor.link.numba.dispatch import basic

    return int(getattr(basic, "NUMBA_CONSTANT_SIZE_LIMIT", 10**6))


@INDEX.contract(
    "a function with a contiguous constant array of up to a million bytes is stored",
    "PyTensor makes constants contiguous for this: otherwise no outer graph is cached",
)
def _constants_stored() -> str:
    making.cache_module()
    orders: tuple[Literal["C", "F"], ...] = ("C", "F")
    for order in orders:
        with promised(f"numba compiles a constant array of {_limit()} bytes"):
            _constant(order)
        what = f"a constant array ({order} order) of {_limit()} bytes"
        need(_constant(order) == 1, f"a function with {what} is not cached")
    return f"contiguous arrays of up to {_limit()} bytes are stored with the function"


def _outer() -> list[Any]:
    """Result, loaded signatures and compiled inner signatures of a function that calls another."""
    inner = making.compiled("def whole_inner(x): return x * 3")
    outer = making.compiled("def whole(*x): return inner(*x)", "loaded_is_whole", inner=inner)
    return [outer(2.0), making.hits(outer), len(inner.signatures)]


@LOADED.contract(
    "a loaded function includes the functions that it calls",
    "each Op is a function that calls another: loading the outer graph would compile all",
)
def _loaded_is_whole() -> str:
    making.cache_module()
    with promised("a function that calls another is built by two processes"):
        stored, loaded = (workers.fresh(_outer) for _ in range(2))
    need(stored == [6.0, 0, 1], f"the process that stores got {stored}")
    need(loaded[0] == 6.0, f"the process that loads got {loaded[0]} in the place of 6.0")
    need(loaded[1] == 1, "the function that calls another one was not loaded")
    need(loaded[2] == 0, "what the loaded function calls was compiled all the same")
    return "it was loaded, and nothing that it calls was compiled"


def _raise() -> list[Any]:
    source = f"def raising(x):\n    if x < 0.0:\n        raise ValueError({_WORD!r})\n    return x"
    function = making.compiled(source, "loaded_raises")
    function(1.0)
    try:
        function(-1.0)
    except Exception as error:
        return [type(error).__name__, str(error), making.hits(function)]
    return ["nothing", "", making.hits(function)]


@LOADED.contract(
    "a loaded function raises the same exception, with the same text",
    "Assert and shape errors tell users what is wrong by their text",
)
def _loaded_raises() -> str:
    making.cache_module()
    with promised("a function that raises is built by two processes"):
        stored, loaded = (workers.fresh(_raise) for _ in range(2))
    need(stored == ["ValueError", _WORD, 0], f"the process that stores saw {stored}")
    need(loaded == ["ValueError", _WORD, 1], f"the process that loads saw {loaded}")
    return "it raised the same exception with the same text"
