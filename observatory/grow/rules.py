"""The rules of the operations: what each makes of operands, and with which settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations, product
from math import prod
from typing import Literal

from observatory.grow.indexing import assigned, assignments, indices, part_of
from observatory.grow.shape import (
    FLOATS,
    INTEGERS,
    KINDS,
    UNKNOWN_ONE,
    Result,
    Settings,
    Shape,
    broadcast,
)  # fmt: skip

MOST_DIMENSIONS = 3


@dataclass(frozen=True)
class Rule:
    """An operation: what it makes of operands, and with which settings it can be applied."""

    arity: tuple[int, ...]
    """The numbers of operands that it takes."""
    result: Callable[[Sequence[Shape], Settings], Result]
    """What it returns; None: it takes no such operands or settings."""
    settings: Callable[[Sequence[Shape]], Iterator[Settings]]
    """The settings that may be tried with such operands."""
    group: Literal["elementwise", "other", "rare"] = "other"
    """`rare`: it takes seconds to compile."""


def _none(_: Sequence[Shape]) -> Iterator[Settings]:
    yield {}


def _elementwise(
    takes: str, returns: str = "", *, first: str = ""
) -> Callable[[Sequence[Shape], Settings], Result]:
    """The result of an elementwise operation.

    ``takes``: the kinds of its operands, of which integers and floats may be mixed; ``first``:
    those of the first operand, if it takes others. ``returns``: the kind of the result; by default
    that of the operands.
    """

    def result(operands: Sequence[Shape], _: Settings) -> Result:
        others = operands[1:] if first else operands
        kinds = {one.kind for one in others}
        lengths = broadcast(operands)
        wrong_first = first and operands[0].kind not in first
        if lengths is None or wrong_first or not kinds <= set(takes):
            return None
        return Shape(lengths, returns or ("f" if "f" in kinds else kinds.pop()))

    return result


def _axes(shape: Shape) -> Iterator[tuple[int, ...]]:
    for count in range(1, shape.ndim + 1):
        yield from combinations(range(shape.ndim), count)


def _text(numbers: Sequence[int | str]) -> str:
    return ",".join(map(str, numbers))


def _reduced(takes: str, returns: str = "") -> Callable[[Sequence[Shape], Settings], Result]:
    def result(operands: Sequence[Shape], settings: Settings) -> Result:
        (one,) = operands
        axes = [int(word) for word in settings["axis"].split(",") if word]
        if one.kind not in takes or not one.ndim or any(axis >= one.ndim for axis in axes):
            return None
        gone = set(axes or range(one.ndim))
        if settings.get("keepdims") == "yes":
            kept = tuple(1 if n in gone else x for n, x in enumerate(one.lengths))
        else:
            kept = tuple(x for n, x in enumerate(one.lengths) if n not in gone)
        dtype = settings.get("dtype", "")
        return Shape(kept, returns or (KINDS[dtype] if dtype else one.kind))

    return result


def _of_reduction(*, dtypes: bool = False) -> Callable[[Sequence[Shape]], Iterator[Settings]]:
    def settings(operands: Sequence[Shape]) -> Iterator[Settings]:
        (one,) = operands
        known = {"f": FLOATS, "i": INTEGERS}.get(one.kind, ())
        for axes, keep in product(["", *map(_text, _axes(one))], ("", "yes")):
            for dtype in ("", *known) if dtypes else ("",):
                yield {"axis": axes, "keepdims": keep, "dtype": dtype}

    return settings


def _argmax_settings(operands: Sequence[Shape]) -> Iterator[Settings]:
    for axis in range(operands[0].ndim):
        yield {"axis": str(axis), "keepdims": ""}


def _along(operands: Sequence[Shape], settings: Settings) -> Result:
    (one,) = operands
    return one if one.kind != "b" and int(settings["axis"]) < one.ndim else None


def _one_axis(operands: Sequence[Shape]) -> Iterator[Settings]:
    for axis in range(operands[0].ndim):
        yield {"axis": str(axis)}


def _shuffled(operands: Sequence[Shape], settings: Settings) -> Result:
    (one,) = operands
    order = settings["order"].split(",")
    if sorted(word for word in order if word != "x") != [str(n) for n in range(one.ndim)]:
        return None
    return Shape(tuple(1 if word == "x" else one.lengths[int(word)] for word in order), one.kind)


def _orders(operands: Sequence[Shape]) -> Iterator[Settings]:
    (one,) = operands
    for order in permutations(range(one.ndim)):
        if one.ndim > 1 and list(order) != sorted(order):
            yield {"order": _text(order)}
        if one.ndim < MOST_DIMENSIONS:
            yield {"order": _text(("x", *order))}
            yield {"order": _text((*order, "x"))}


def _joined(operands: Sequence[Shape], settings: Settings) -> Result:
    axis = int(settings["axis"])
    first = operands[0]
    if axis >= first.ndim or any((o.ndim, o.kind) != (first.ndim, first.kind) for o in operands):
        return None
    rest = {one.size[:axis] + one.size[axis + 1 :] for one in operands}
    if len(rest) > 1:
        return None
    lengths = list(first.lengths)
    lengths[axis] = sum(one.size[axis] for one in operands)
    return Shape(tuple(lengths), first.kind)


def _dot(operands: Sequence[Shape], _: Settings) -> Result:
    one, other = operands
    if {one.kind, other.kind} != {"f"} or not 1 <= one.ndim <= 2 or not 1 <= other.ndim <= 2:
        return None
    if one.size[-1] != other.size[0]:
        return None
    return Shape(one.lengths[:-1] + other.lengths[1:], "f")


def _cast(operands: Sequence[Shape], settings: Settings) -> Result:
    return Shape(operands[0].lengths, KINDS[settings["dtype"]])


def _dtypes(_: Sequence[Shape]) -> Iterator[Settings]:
    yield from ({"dtype": dtype} for dtype in (*FLOATS, *INTEGERS))


def _reshaped(operands: Sequence[Shape], settings: Settings) -> Result:
    lengths = tuple(int(word) for word in settings["shape"].split(","))
    (one,) = operands
    return Shape(lengths, one.kind) if prod(lengths) == prod(one.size) else None


def _factors(operands: Sequence[Shape]) -> Iterator[Settings]:
    size = prod(operands[0].size)
    for count in (1, 2, 3):
        for lengths in product(range(1, size + 1), repeat=count):
            if prod(lengths) == size and lengths != operands[0].size:
                yield {"shape": _text(lengths)}


def _allocated(operands: Sequence[Shape], settings: Settings) -> Result:
    lengths = tuple(int(word) for word in settings["shape"].split(","))
    (one,) = operands
    if broadcast([one, Shape(lengths, one.kind)]) != lengths:
        return None
    return Shape(lengths, one.kind)


def _allocations(_: Sequence[Shape]) -> Iterator[Settings]:
    yield from ({"shape": shape} for shape in ("2", "3", "2,3", "3,2", "1,3"))


def _diagonal(operands: Sequence[Shape], settings: Settings) -> Result:
    (one,) = operands
    if one.ndim != 2:
        return None
    rows, columns = one.size
    offset = int(settings["offset"])
    length = min(rows + min(offset, 0), columns - max(offset, 0))
    return Shape((UNKNOWN_ONE if length == 1 else length,), one.kind) if length > 0 else None


def _offsets(_: Sequence[Shape]) -> Iterator[Settings]:
    yield from ({"offset": offset} for offset in ("0", "1", "-1"))


def _repeated(operands: Sequence[Shape], settings: Settings) -> Result:
    (one,) = operands
    axis = int(settings["axis"])
    if axis >= one.ndim:
        return None
    lengths = list(one.lengths)
    lengths[axis] = abs(lengths[axis]) * int(settings["times"])
    return Shape(tuple(lengths), one.kind)


def _repeats(operands: Sequence[Shape]) -> Iterator[Settings]:
    for axis, times in product(range(operands[0].ndim), ("2", "3")):
        yield {"axis": str(axis), "times": times}


def _scanned(operands: Sequence[Shape], _: Settings) -> Result:
    (one,) = operands
    return one if one.ndim == 1 and one.kind == "f" else None


def _of_graph(operands: Sequence[Shape], _: Settings) -> Result:
    return operands[0] if operands[0].kind == "f" else None


def _scale(_: Sequence[Shape]) -> Iterator[Settings]:
    yield from ({"factor": factor} for factor in ("0.5", "0.25", "-1.5"))


def _same_sign(takes: str) -> Rule:
    return Rule((1,), _elementwise(takes), _none, "elementwise")


RULES: Mapping[str, Rule] = {
    **{name: Rule((1,), _elementwise("fi", "f"), _none, "elementwise")
       for name in ("tanh", "arctan", "sigmoid")},
    **{name: _same_sign("fi") for name in ("neg", "abs", "sqr")},
    "add": Rule((2, 3), _elementwise("fi"), _none, "elementwise"),
    "mul": Rule((2, 3), _elementwise("fi"), _none, "elementwise"),
    **{name: Rule((2,), _elementwise("fi"), _none, "elementwise")
       for name in ("sub", "maximum", "minimum")},
    **{name: Rule((2,), _elementwise("fi", "f"), _none, "elementwise")
       for name in ("true_div", "arctan2")},
    **{name: Rule((2,), _elementwise("fi", "b"), _none, "elementwise") for name in ("gt", "le")},
    "switch": Rule((3,), _elementwise("fi", first="b"), _none, "elementwise"),
    "sum": Rule((1,), _reduced("fi"), _of_reduction(dtypes=True)),
    "prod": Rule((1,), _reduced("fi"), _of_reduction(dtypes=True)),
    **{name: Rule((1,), _reduced("fi"), _of_reduction()) for name in ("max", "min")},
    "mean": Rule((1,), _reduced("f"), _of_reduction()),
    **{name: Rule((1,), _reduced("b"), _of_reduction()) for name in ("any", "all")},
    "argmax": Rule((1,), _reduced("fi", "i"), _argmax_settings),
    "cumsum": Rule((1,), _along, _one_axis),
    "sort": Rule((1,), _along, _one_axis),
    "dimshuffle": Rule((1,), _shuffled, _orders),
    "join": Rule((2, 3), _joined, _one_axis),
    "part": Rule((1,), lambda operands, s: part_of(operands[0], s["index"]), indices),
    "assign": Rule((2,), assigned, assignments),
    "dot": Rule((2,), _dot, _none),
    "cast": Rule((1,), _cast, _dtypes),
    "reshape": Rule((1,), _reshaped, _factors),
    "alloc": Rule((1,), _allocated, _allocations),
    "diagonal": Rule((1,), _diagonal, _offsets),
    "repeat": Rule((1,), _repeated, _repeats),
    "scan": Rule((1,), _scanned, _scale, "rare"),
    "from_graph": Rule((1,), _of_graph, _scale),
}  # fmt: skip
"""The operations by name."""
