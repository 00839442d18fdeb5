"""The rules of indices: which there are, and what they take of a variable or assign to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product

from observatory.grow.shape import UNKNOWN_ONE, Result, Settings, Shape

_SLICES: Mapping[str, Callable[[int], int]] = {
    "1:": lambda n: n - 1,
    ":-1": lambda n: n - 1,
    ":2": lambda n: min(n, 2),
    "::-1": lambda n: n,
    "::2": lambda n: (n + 1) // 2,
    "1::2": lambda n: n // 2,
}
_ROWS = ("[0,1]", "[1,0]", "[1,1,0]", "[-1,0]")
_NUMBERS = ("0", "1", "-1")


def part_of(one: Shape, index: str) -> Result:
    """Return what an index takes of a variable; None if the variable has no such part."""
    if not one.ndim:
        return None
    lengths = list(one.lengths)
    if index.startswith("["):
        rows = [int(word) for word in index[1:-1].split(",")]
        fits = all(-abs(lengths[0]) <= row < abs(lengths[0]) for row in rows)
        return Shape((len(rows), *lengths[1:]), one.kind) if fits else None
    words = index.split(",")
    if len(words) > one.ndim:
        return None
    found = []
    for word, length in zip(words, map(abs, lengths), strict=False):
        if word in _SLICES:
            left = _SLICES[word](length)
            found.append(UNKNOWN_ONE if left == 1 else left)
        elif not -length <= int(word) < length:
            return None
    return Shape((*found, *lengths[len(words) :]), one.kind)


def indices(operands: Sequence[Shape]) -> Iterator[Settings]:
    """Yield the indices that may be tried with a variable."""
    one = operands[0]
    words = (*_SLICES, *_NUMBERS)
    yield from ({"index": word} for word in (*words, *_ROWS))
    if one.ndim > 1:
        for first, second in product((*_SLICES, "0"), words):
            yield {"index": f"{first},{second}"}


def assigned(operands: Sequence[Shape], settings: Settings) -> Result:
    """Return a variable of which a part was set or increased; None if that is refused."""
    one, value = operands
    part = part_of(one, settings["index"])
    if part is None or "b" in (one.kind, value.kind) or (one.kind, value.kind) == ("i", "f"):
        return None
    # Rows that occur twice are set in an order that nobody promises.
    if settings["how"] == "set" and settings["index"] == "[1,1,0]":
        return None
    fits = not value.ndim or value.size == part.size
    # A dtype with more bits is refused: of one kind both may have either.
    return one if fits and 0 not in part.lengths else None


def assignments(operands: Sequence[Shape]) -> Iterator[Settings]:
    """Yield the assignments that may be tried with a variable."""
    for index, how in product(indices(operands), ("set", "inc")):
        yield {**index, "how": how}
