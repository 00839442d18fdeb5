"""Contracts about a stored function that another process loads."""

from __future__ import annotations

from typing import Any

from benchmarks import workers
from benchmarks.contracts import making
from benchmarks.contracts.contract import Area, need, promised

_INNER = "def whole_inner(x): return x * 3"
_WORD = "the sum of the county effects is not zero"


AREA = Area("loaded")


def _outer() -> list[Any]:
    """Result, loaded signatures and compiled inner signatures of a function that calls another."""
    inner = making.compiled(_INNER)
    outer = making.compiled("def whole(*x): return inner(*x)", "loaded_is_whole", inner=inner)
    return [outer(2.0), making.hits(outer), len(inner.signatures)]


@AREA.contract(
    "loaded_is_whole",
    "a loaded function includes the functions that it calls",
    "each Op is a function that calls another: loading the outer graph would compile all",
)
def _whole() -> str:
    making.cache_module()
    with promised("a function that calls another is built by two processes"):
        stored, loaded = (workers.fresh(_outer) for _ in range(2))
    need(stored == [6.0, 0, 1], f"the process that stores got {stored}")
    need(loaded[0] == 6.0, f"the process that loads got {loaded[0]} in the place of 6.0")
    need(loaded[1] == 1, "the function that calls another one was not loaded")
    need(loaded[2] == 0, "what the loaded function calls was compiled all the same")
    return "loaded with what it calls, of which nothing was compiled"


def _raise() -> list[Any]:
    source = f"def raising(x):\n    if x < 0.0:\n        raise ValueError({_WORD!r})\n    return x"
    function = making.compiled(source, "loaded_raises")
    function(1.0)
    try:
        function(-1.0)
    except Exception as error:
        return [type(error).__name__, str(error), making.hits(function)]
    return ["nothing", "", making.hits(function)]


@AREA.contract(
    "loaded_raises",
    "a loaded function raises the same exception, with the same text",
    "Assert and shape errors tell users what is wrong by their text",
)
def _raises() -> str:
    making.cache_module()
    with promised("a function that raises is built by two processes"):
        stored, loaded = (workers.fresh(_raise) for _ in range(2))
    need(stored == ["ValueError", _WORD, 0], f"the process that stores saw {stored}")
    need(loaded == ["ValueError", _WORD, 1], f"the process that loads saw {loaded}")
    return "the same exception with the same words"
