"""Contracts about flags, code generation and warnings of numba, and about PyTensor's patches."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from typing import Any

from . import making
from .making import Area, need, promised

_MANY = 60
"""Arguments of a call; beyond thirty CPython builds them as a list."""

AREA = Area("compiling")
WARNINGS = Area("warnings")


@AREA.contract(
    "njit can omit the wrappers of a function, and compile the function again with them",
    "PyTensor omits them except for the outer graph: building would take longer or fail",
)
def _wrapper_flags() -> str:
    import numba

    add = _plain("def wrapper_flags(x): return x + 1")
    with promised("njit takes no_cpython_wrapper and no_cfunc_wrapper"):
        inner = numba.njit(add, **making.UNWRAPPED)
        outer = numba.njit(_plain("def outer(x): return inner(x)", inner=inner))
    with promised("a function without wrappers can be called by another one"):
        need(outer(1.0) == 2.0, "a function without wrappers returns a wrong number")
    wrapped = [name for name in making.symbols(inner) if "cpython" in name or "cfunc" in name]
    need(not wrapped, f"it has a wrapper all the same: {', '.join(sorted(wrapped))[:200]}")
    kept = inner.py_func is add and inner.__name__ == "wrapper_flags"
    need(kept, "a dispatcher does not return its Python function, or has another name")
    with promised("its Python function can be compiled again, with wrappers"):
        need(numba.njit(inner.py_func)(1.0) == 2.0, "compiled again it returns a wrong number")
    return "a function was compiled without wrappers, called, and compiled again with them"


@AREA.contract(
    "overload passes jit_options to the compiler",
    "PyTensor's loops get their floating-point flags this way: slower loops, or errors",
)
def _jit_options() -> str:
    import numba

    target = _plain("def target(x): raise NotImplementedError")
    with promised("overload takes jit_options with fastmath and the flags for wrappers"):
        options = {"fastmath": {"contract", "nsz"}, **making.UNWRAPPED}
        doubled = _plain("def doubled(x): return lambda x: x * 2.0")
        numba.extending.overload(target, jit_options=options)(doubled)
        caller = numba.njit(_plain("def caller(x): return target(x)", target=target))
        need(caller(4.0) == 8.0, "an overload with these options returns a wrong number")
    (code,) = caller.inspect_llvm().values()
    found = re.findall(r"= fmul ([a-z ]*)double", code)
    need(found, "the overload's multiplication is not where it was called")
    flags = found[0].strip()
    need({"contract", "nsz"} <= set(flags.split()), f"its multiplication has the flags {flags!r}")
    return f"the multiplication of an overload has the flags {flags}"


@AREA.contract(
    "with PyTensor's patch, numba addresses elements of strided arrays by getelementptr",
    "scans over such arrays return wrong numbers: numba issue 10605",
)
def _pointer_provenance() -> str:
    making.need_dispatch("_patch_pointer_add", "leaves numba's pointer_add as it is")
    import pytensor.link.numba.dispatch  # noqa: F401  its patches are part of what must hold
    from llvmlite import ir  # type: ignore[import-not-found]
    from numba.core import cgutils

    word = cgutils.intp_t
    kind = ir.FunctionType(ir.VoidType(), [ir.DoubleType().as_pointer(), word, word])
    module = ir.Module()
    element = ir.Function(module, kind, "element")
    builder = ir.IRBuilder(element.append_basic_block())
    data, stride, index = element.args
    with promised("get_item_pointer2 gives the address of an element of an array in any order"):
        cgutils.get_item_pointer2(None, builder, data, [word(9)], [stride], "A", [index])
    text = str(module)
    need("getelementptr" in text or "inttoptr" in text, "no address is computed at all")
    need("inttoptr" not in text, "the address is made of an integer (numba issue 10605)")
    return "addresses are offsets from their pointers"


@AREA.contract(
    "with PyTensor's patch, a call with many arguments becomes one tuple",
    "graphs with wide nodes compile in quadratic time",
)
def _long_calls() -> str:
    making.need_dispatch("_patch_list_to_tuple", "leaves numba's handling as it is")
    import pytensor.link.numba.dispatch  # noqa: F401  its patches are part of what must hold
    from numba.core import ir
    from numba.core.compiler import run_frontend

    arguments = ", ".join(f"x[{number}]" for number in range(_MANY))
    with promised(f"numba reads a call with {_MANY} arguments"):
        code = run_frontend(_plain(f"def long_call(x): return callee({arguments})", callee=max))
    statements = [one for block in code.blocks.values() for one in block.body]
    tuples = [
        len(one.value.items)
        for one in statements
        if isinstance(one, ir.Assign)
        and isinstance(one.value, ir.Expr)
        and one.value.op == "build_tuple"
    ]
    seen = f"{len(tuples)} tuples with {sum(tuples)} items in {len(statements)} statements"
    need(sum(tuples) <= 2 * _MANY and len(statements) <= 8 * _MANY, seen)
    return seen


@AREA.contract(
    "with PyTensor's patch, llvmlite writes metadata that refers to itself",
    "PyTensor's loops cannot tell LLVM that arrays do not overlap: they raise",
)
def _self_reference() -> str:
    making.need_dispatch("_llvmlite_self_ref", "writes no such metadata")
    from llvmlite import ir
    from pytensor.link.numba.dispatch._llvmlite_self_ref import ensure_self_ref_metadata_support

    with promised("llvmlite can be brought to write metadata that names itself"):
        ensure_self_ref_metadata_support()
        module = ir.Module()
        scopes = [module.add_metadata([], self_ref=True) for _ in range(2)]
        module.add_metadata(scopes)
        text = str(module)
    written = re.findall(r"^!(\d+) = (?:distinct )?!\{ !(\d+)[ ,}]", text, re.MULTILINE)
    named = [one for one, other in written if one == other]
    need(len(named) == 2, f"two nodes that name themselves are written as {' '.join(text.split())}")
    return "each of two nodes names itself"


def _plain(source: str, **names: Any) -> Any:
    """A Python function from source, which PyTensor does not know."""
    found = re.match(r"def (\w+)", source)
    assert found is not None
    space: dict[str, Any] = {"__name__": __name__, **names}
    exec(compile(source, "<string>", "exec"), space)  # noqa: S102  our own text
    return space[found[1]]


def _basic() -> Any:
    """PyTensor's module with the filter; raises Unavailable if it has none."""
    making.cache_module()
    from pytensor.link.numba.dispatch import basic

    if not hasattr(basic, "_filter_numba_warnings"):
        raise making.unavailable("filters warnings where it compiles, if at all")
    return basic


def _passing(basic: Any, given: Iterable[warnings.WarningMessage]) -> str:
    """The texts of the warnings that pass PyTensor's filter."""
    with warnings.catch_warnings(record=True, action="always") as passed:
        basic._filter_numba_warnings()
        for one in given:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    return " ".join(" ".join(str(one.message).split())[:300] for one in passed)


def _warnings_of(function: Any, *arguments: Any, **options: Any) -> list[warnings.WarningMessage]:
    """The warnings that numba gives when it compiles a function."""
    import numba

    with (
        warnings.catch_warnings(record=True, action="always") as given,
        promised("numba compiles a function that it warns about"),
    ):
        numba.njit(function, **options)(*arguments)
    return [one for one in given if issubclass(one.category, numba.NumbaWarning)]


@WARNINGS.contract(
    "numba's warning about what it does not store has the text that PyTensor filters",
    "every user would see a warning for each outer graph with a large constant",
)
def _refusals_filtered() -> str:
    basic = _basic()
    graph = _warnings_of(making.pointing("numba_funcified_fgraph", "quiet"), -3, cache=True)
    other = _warnings_of(making.pointing("some_function", "loud"), -3, cache=True)
    need(graph and other, "numba no longer warns about what it does not store")
    passing = _passing(basic, graph)
    need(not passing, f"PyTensor's filter lets through: {passing}")
    need(_passing(basic, other), "PyTensor's filter suppresses the warning for other functions too")
    return "it is suppressed for an outer graph, and shown for other functions"


@WARNINGS.contract(
    "numba's warning about products of strided arrays has the text that PyTensor filters",
    "every user would see a warning for each graph with such a product",
)
def _products_filtered() -> str:
    import numpy as np

    basic = _basic()
    strided = np.ones((4, 4))[::2, ::2]
    # Only this spelling is filtered by every PyTensor that filters.
    product = making.function("def product(x, y): return np.dot(x, y)", np=np)
    given = _warnings_of(product, strided, strided)
    need(given, "numba no longer warns about strided products")
    passing = _passing(basic, given)
    need(not passing, f"PyTensor's filter lets through: {passing}")
    return "it is suppressed"
