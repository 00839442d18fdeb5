"""Contracts about the numbers that numba gives functions, and the symbols that contain them.

numba numbers the functions that it compiles, and a symbol contains the number. Forked siblings
inherit the counter: two functions with one name get one symbol, and a process that loads both from
a cache calls the wrong one, without an error. From 2.38.3 on, PyTensor replaces the counter by
random numbers of 128 bits.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from functools import partial
from typing import Any

from .. import workers
from . import making
from .making import Area, need, promised

_COUNTER = "_unique_ids"
_LARGE = 2**64
"""Smaller numbers may meet again in another process."""
_WRONG = (
    "two functions of forked siblings get one symbol, "
    "and a process that loads both calls the wrong one"
)

AREA = Area("uids")


class _OnlyNext:
    """An iterator with only `__next__`, like the replacement that PyTensor provides."""

    def __init__(self) -> None:
        self.given: list[int] = []

    def __next__(self) -> int:
        self.given.append(2**127 + len(self.given))
        return self.given[-1]


@AREA.contract(
    f"numba asks FunctionIdentity.{_COUNTER} for a number when it compiles a function",
    f"PyTensor replaces that attribute, in vain if numba does not ask it: {_WRONG}",
)
def _uid_asked() -> str:
    asked = _OnlyNext()
    add = making.compiled("def uid_asked(x): return x + 1")
    with promised("numba compiles with another counter"), making.counter(asked):
        add(1.0)
    need(asked.given, f"numba compiled a function and did not ask FunctionIdentity.{_COUNTER}")
    return f"numba asked {len(asked.given)} times for one function"


@AREA.contract(
    "numba compiles, stores and loads with a counter that has only __next__",
    "PyTensor's replacement has only that method: numba would raise in every compilation",
)
def _uid_next_only() -> str:
    import numba
    from numba.core.bytecode import FunctionIdentity

    asked = _OnlyNext()

    def callback(x: float) -> float:
        return x + 1.0

    def lifted(x: float) -> float:
        with numba.objmode(y="float64"):
            y = callback(x)
        # A comprehension is a function of its own, which numba inlines.
        return sum([y * i for i in range(3)])

    making.cache_module()
    with promised("numba compiles, stores and loads with next() alone"), making.counter(asked):
        numba.njit(lifted)(1.0)
        for _ in range(2):
            stored = making.compiled("def uid_next_only(x): return x + 1", "uid_next_only")
            stored(1.0)
        FunctionIdentity.from_function(callback).derive()
    need(making.hits(stored) == 1, "with another counter a stored function is not loaded again")
    return f"numba asked {len(asked.given)} times, and only by next()"


@AREA.contract(
    f"numba's sources use {_COUNTER} only in next(cls.{_COUNTER})",
    f"a copy or a second counter would not be PyTensor's: {_WRONG}",
)
def _uid_no_other_use() -> str:
    asks: list[str] = []
    otherwise: list[str] = []
    for file, text in making.sources("numba", _COUNTER):
        if not file.startswith("numba/tests/"):
            for line, is_next in _uses(ast.parse(text)):
                (asks if is_next else otherwise).append(f"{file}:{line}")
    need(asks, f"numba's sources nowhere ask for next() of {_COUNTER}")
    need(not otherwise, f"numba uses {_COUNTER} without next(): {', '.join(otherwise)}")
    return f"numba asks for it in {', '.join(asks)}, and uses it nowhere else"


def _uses(tree: ast.Module) -> Iterator[tuple[int, bool]]:
    """Lines that use the counter, and whether by `next(X._unique_ids)`; not its definition."""
    nodes = list(ast.walk(tree))
    calls = [node for node in nodes if isinstance(node, ast.Call) and node.args]
    asked = {id(call.args[0]) for call in calls if ast.unparse(call.func) == "next"}
    for node in nodes:
        match node:
            case ast.Attribute(attr=name):
                is_next = id(node) in asked
            case ast.Constant(value=name) | ast.Name(id=name, ctx=ast.Load()):
                is_next = False
            case _:
                continue
        if name == _COUNTER:
            yield node.lineno, is_next


@AREA.contract(
    "the counter is PyTensor's after its whole numba backend has been imported",
    f"without PyTensor's counter there is no protection: {_WRONG}",
)
def _uid_replaced() -> str:
    module = making.cache_module()
    if not hasattr(module, "_RandomUidIter"):
        raise making.unavailable("does not replace numba's counter (it came with 2.38.3)")
    import pytensor.link.numba.dispatch  # noqa: F401
    from numba.core.bytecode import FunctionIdentity

    there = FunctionIdentity.__dict__.get(_COUNTER)
    replaced = isinstance(there, module._RandomUidIter)
    need(replaced, f"FunctionIdentity.{_COUNTER} is {there!r:.100}")
    return "PyTensor's replacement is in place"


@AREA.contract("functions of two forked children get different numbers, of 64 bits or more", _WRONG)
def _uid_fork() -> str:
    making.cache_module()

    def draw() -> list[int]:
        from numba.core.bytecode import FunctionIdentity

        return [FunctionIdentity.from_function(draw).unique_id for _ in range(3)]

    drawn = [number for _ in range(2) for number in workers.forked(draw)]
    unique = len(set(drawn)) == len(drawn)
    need(unique, f"two forked children drew the same numbers: {drawn[:3]} and {drawn[3:]}")
    small = [number for number in drawn if number < _LARGE]
    need(not small, f"numbers as small as {small[:1]} can meet again in another process")
    return f"six functions got different numbers of {min(drawn).bit_length()} bits or more"


@AREA.contract(
    "functions with different numbers have different symbols, to the last of 128 bits",
    f"a number that is truncated or omitted does not protect: {_WRONG}",
)
def _uid_in_symbols() -> str:
    # Numbers that differ in nothing but the highest or the lowest of 128 bits.
    base = 2**126 + 2**64
    found: list[frozenset[str]] = []
    for number in (base, base + 1, base + 2**127):
        numbers = itertools.chain([number], itertools.count(2**100))
        add = making.compiled("def uid_in_symbols(x): return x + 1")
        with promised("numba compiles with numbers of 128 bits"), making.counter(numbers):
            add(1.0)
        found.append(making.symbols(add))
    need(all(found), "the code that numba shows defines no symbol")
    for one, other in itertools.combinations(found, 2):
        need(not one & other, f"two numbers gave one symbol: {min(one & other, default='')}")
    return f"functions with {len(found)} numbers have no symbol in common"


_LINES = "\n".join(f"    x = math.sqrt(x + NUMBER) * {line}.5" for line in range(2, 62))
_LONG = f"def many(x):\n{_LINES}\n    return NUMBER.0 if x > -1.0 else x"
"""Too long to be inlined: an inlined function is not called by its symbol."""


def _sibling(number: int) -> Any:
    """A cached function that returns its number; all of them have the same names."""
    import math

    import numba

    source = _LONG.replace("NUMBER", str(number))
    inner = numba.njit(making.function(source, math=math), **making.UNWRAPPED)
    keyed = making.function("def middle(*x): return many(*x)", f"middle_{number}", many=inner)
    middle = numba.njit(keyed, cache=True, **making.UNWRAPPED)
    return making.compiled("def outer(x): return middle(x)", f"outer_{number}", middle=middle)


def _symbols_of(number: int) -> list[str]:
    """Compile the function of this number and return the symbols that it defines."""
    sibling = _sibling(number)
    sibling(1.0)
    return sorted(making.symbols(sibling))


def _results_of(numbers: list[int]) -> list[list[float]]:
    """What the functions of these numbers return, and whether each was loaded."""
    siblings = [_sibling(number) for number in numbers]
    return [[sibling(1.0), making.hits(sibling)] for sibling in siblings]


@AREA.contract(
    "different functions of one name that forked siblings compile share no symbol", _WRONG
)
def _sibling_symbols() -> str:
    making.cache_module()
    with promised("two forked siblings compile a function each"):
        first, second = (set(workers.forked(partial(_symbols_of, number))) for number in (2, 3))
    shared = min(first & second, default="")
    need(not shared, f"two forked siblings gave different functions one symbol: {shared}")
    return f"the siblings share none of their {len(first)} and {len(second)} symbols"


@AREA.contract(
    "a process that loads what two forked siblings stored gets the right numbers from both",
    "wrong numbers without an error, or a crash: numba issue 10486",
)
def _sibling_results() -> str:
    making.cache_module()
    numbers = [4, 5]
    with promised("two forked siblings store a function each and a third process calls both"):
        for number in numbers:
            workers.forked(partial(_symbols_of, number))
        read = workers.fresh(_results_of, numbers)
    if any(not loaded for _, loaded in read):
        raise RuntimeError("this cannot be judged: what siblings stored is not loaded at all")
    got = [number for number, _ in read]
    need(got == numbers, f"a process that loaded functions that return {numbers} got {got}")
    return "a process that loads what two siblings stored gets the right numbers from both"
