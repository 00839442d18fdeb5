"""A pair of graphs that share one cache: how it is described, compiled, and checked.

All pairs fill one cache, so that the second graph of none may be the first one of another: what
that pair stored would be found in its place, and a collision would look like a right result. Where
two pairs are made of one Op, their first graphs may be equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from ... import FIRST, TOLERANCE, Errors, Graph, NotInThisRelease
from ..small import Function, in_any_release, point
from .draft import Draft

Build = Callable[[Draft], Any]
"""Adds the inputs to a draft, and returns one output or a sequence of them."""
Compared = Literal["values", "types", "messages", "exceptions"]
"""What of a result is compared: its values; only shapes and dtypes, of draws that a backend makes
from other bits than NumPy, and of vectors that have no sign of their own; the exception that the
call raises; or only its class, where backends word it differently."""

OF_NUMBA = ("NumbaLinker",)
OF_C = ("VMLinker", "CLinker")
"""The classes of linkers of the backends that share a cache."""

_TOLERANCES = {2: 1e-2, 4: 2e-5, 8: TOLERANCE}
"""The largest relative error by the bytes of a real number."""
_GENERATED = _TOLERANCES[4]


@dataclass(frozen=True)
class Side:
    """One graph of a pair."""

    build: Build
    flags: Mapping[str, Any] = field(default_factory=dict)
    """PyTensor's flags while it is compiled and called."""
    linker: str = ""
    """The linker in place of the backend's, of those that share a cache with it."""
    borrowed: bool = False
    """Whether the function may keep the memory of what it returns."""
    checked: bool = True
    """Whether its result must be right: a flag may allow a compiler to be inexact."""

    def made(self, draft: Draft) -> Any:
        """Make the graph of it, and return the outputs. Raises NotInThisRelease."""
        with in_any_release():
            return self.build(draft)


@dataclass(frozen=True)
class Pair:
    """Two graphs. The second is built where the first has filled the cache."""

    first: Side
    second: Side
    equal: bool = False
    """Whether a cache may, and must, give both the same functions."""
    compared: Compared = "values"
    linkers: tuple[str, ...] = ()
    """The classes of linkers that it is for; empty: of every backend."""
    rewrites: str | None = None
    """What PyTensor must rewrite before its Python linker can compute the reference."""
    generated: bool = False
    """Whether nobody looked at it: a graph is left out that the Python code of its Ops cannot
    compute either, and every number may be as wrong as a float32. PyTensor computes float64 with
    that precision where int32 and float32 meet, which has nothing to do with keys."""


def differ(build: Callable[[Draft, Any], Any], first: Any, second: Any, **more: Any) -> Pair:
    """Return a pair of graphs that differ in one parameter of ``build``.

    ``more``: fields of the pair.
    """
    one, other = (Side(_with(build, value)) for value in (first, second))
    return Pair(one, other, **more)


def equal(first: Build, second: Build | None = None, **more: Any) -> Pair:
    """Return a pair of equal graphs; without ``second``, of one graph that is made twice."""
    return Pair(Side(first), Side(second or first), equal=True, **more)


def _with(build: Callable[[Draft, Any], Any], value: Any) -> Build:
    return lambda draft: build(draft, value)


@dataclass(frozen=True)
class Pairs:
    """The graphs of pairs by name."""

    pairs: Mapping[str, Pair]

    def graph(self, member: str = "") -> Graph:
        """Return a new graph: the second of a pair, or the first if the name says so.

        Raises NotInThisRelease.
        """
        name = member or next(iter(self.pairs))
        pair = self.pairs.get(name)
        if pair is not None:
            return graph_of(pair, pair.second)
        pair = self.pairs[name.removesuffix(FIRST.format(""))]
        return graph_of(pair, pair.first)

    def explain(self, value: Any) -> str:
        """Return the value, in a few words."""
        return f"the value is {show(value)}"


def graph_of(pair: Pair, side: Side) -> Graph:
    """Make the graph of one side of a pair. Raises NotInThisRelease."""
    draft = Draft()
    with _flags(side.flags):
        outputs = side.made(draft)

    def compiled(mode: Any) -> Function:
        return _function(pair, side, draft, outputs, _mode_of(pair, side, mode))

    right = _in_python(pair, side, outputs) if pair.generated else None

    def check(value: Any) -> Errors:
        if not side.checked:
            return Errors(0.0, None, wrong=False)
        error = error_of(pair, value, reference(pair, side) if right is None else right)
        return Errors(error, None, wrong=error is None or error > 1.0)

    return Graph(point(), compiled, check)


def reference(pair: Pair, side: Side) -> Any:
    """Compute the right result of one side of a pair, from a graph of its own.

    No compiler and no cache is used: inner functions too are left to the Python linker.
    """
    from pytensor import config
    from pytensor.compile.mode import Mode

    draft = Draft()
    # The Ops with an inner graph compile it in the mode of the flag: this one is all Python.
    with _flags(side.flags), config.change_flags(mode="FAST_COMPILE"):
        outputs = side.made(draft)
        mode = Mode(linker="py", optimizer=pair.rewrites)
        return _function(pair, Side(side.build), draft, outputs, mode)(point())


def _in_python(pair: Pair, side: Side, outputs: Any) -> Any:
    """The right result.

    Raises NotInThisRelease where the Python code raises an exception, or returns another dtype than
    the graph declares: it is no reference then.
    """
    try:
        found = reference(pair, side)
        for one, output in zip(found, outputs, strict=True):
            if one.dtype != output.type.dtype:
                why = f"the Python code returns {one.dtype} for {output.type.dtype}"
                raise NotInThisRelease(f"{why}: {output.owner and output.owner.op}"[:300])
        return found
    except NotInThisRelease:
        raise
    except Exception as error:
        why = f"the Python code raises {type(error).__name__}: {error}"
        raise NotInThisRelease(why[:300]) from error


def error_of(pair: Pair, found: Any, right: Any) -> float | None:
    """Return the largest error of a result, divided by the largest that is not wrong.

    None: it has other shapes or dtypes, is not a number where it should be, or the reverse.
    """
    if (
        pair.compared in ("messages", "exceptions")
        or isinstance(found, str)
        or isinstance(right, str)
    ):
        return 0.0 if found == right else None
    if len(found) != len(right):
        return None
    errors = []
    for one, other in zip(found, right, strict=True):
        if one.shape != other.shape or one.dtype != other.dtype:
            return None
        given = _GENERATED if pair.generated else None
        errors.append(0.0 if pair.compared == "types" else _error(one, other, given))
    return None if None in errors else max((one for one in errors if one is not None), default=0.0)


def _error(found: Any, right: Any, tolerance: float | None = None) -> float | None:
    """The error of one array in units of ``tolerance``, or of what is allowed for its dtype."""
    import numpy as np

    if right.dtype.kind not in "fc":
        return 0.0 if np.array_equal(found, right) else None
    finite = np.isfinite(right)
    if not np.array_equal(found[~finite], right[~finite], equal_nan=True):
        return None
    found, right = found[finite], right[finite]
    if not np.all(np.isfinite(found)):
        return None
    if not right.size:
        return 0.0
    scale = max(float(np.max(np.abs(right))), np.finfo(right.dtype).tiny)
    if tolerance is None:
        tolerance = _TOLERANCES.get(right.real.dtype.itemsize, TOLERANCE)
    return float(np.max(np.abs(found - right)) / scale / tolerance)


def show(value: Any) -> str:
    """Return a result as a short text: its arrays with their dtypes."""
    import numpy as np

    if isinstance(value, str):
        return value
    shown = (
        f"{one.dtype}{list(one.shape)} {np.array2string(one, precision=6, threshold=8)}"
        for one in map(np.asarray, value)
    )
    return "; ".join(shown)


def _mode_of(pair: Pair, side: Side, mode: Any) -> Any:
    """The mode that a side is compiled in. Raises NotInThisRelease."""
    from pytensor.compile.mode import Mode, get_mode

    linker = type(get_mode(mode).linker).__name__
    if pair.linkers and linker not in pair.linkers:
        raise NotInThisRelease(f"it is for other linkers than {linker}")
    return Mode(linker=side.linker, optimizer="fast_run") if side.linker else mode


def _function(pair: Pair, side: Side, draft: Draft, outputs: Any, mode: Any) -> Function:
    """Compile a draft; the function ignores the point, since every graph has values of its own."""
    import pytensor

    with _flags(side.flags):
        several = list(outputs) if isinstance(outputs, Sequence) else [outputs]
        if side.borrowed:
            several = [pytensor.Out(one, borrow=True) for one in several]
        function = pytensor.function(
            draft.inputs, several, mode=mode, trust_input=True, on_unused_input="ignore"
        )

    def call(_: Any) -> Any:
        import numpy as np

        values = [np.copy(v) if isinstance(v, np.ndarray) else v for v in draft.values]
        with _flags(side.flags):
            if pair.compared not in ("messages", "exceptions"):
                return tuple(map(_array, function(*values)))
            try:
                function(*values)
            except Exception as error:  # what it raises is what the graphs differ in
                if pair.compared == "exceptions":
                    return type(error).__name__
                return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
            return "nothing was raised"

    return call


@contextmanager
def _flags(flags: Mapping[str, Any]) -> Iterator[None]:
    """Set flags of PyTensor for the block. Raises NotInThisRelease for one that it has not."""
    if not flags:
        yield
        return
    from pytensor import config

    missing = [name for name in flags if not hasattr(config, name)]
    if missing:
        raise NotInThisRelease(f"PyTensor has no flag {missing[0]}")
    with config.change_flags(**flags):
        yield


def _array(value: Any) -> Any:
    """An output as an array; a sparse matrix by what it holds, since its format is in its type."""
    import numpy as np

    return np.asarray(value.toarray() if hasattr(value, "toarray") else value)
