"""What differs between the keys that two processes give to the same functions. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from observatory.benchmarks.messages import KeyedFunction, KeyPart

_CLASS = re.compile(r"<class '(?:[\w.]+\.)?(\w+)'>")
_BEGINNING = 12
"""Digits of a hash that tell it from others."""
UNSEEN = "none of the parts that the observatory can see"


@dataclass(frozen=True)
class Difference:
    """A part of a key that differs; None where a side has no such part."""

    path: tuple[str, ...]
    """The parts that it is in, the outermost first, and its own name."""
    base: str | None
    head: str | None


@dataclass(frozen=True)
class KeyChange:
    """One function of a graph on two sides, with all that differs of its keys."""

    name: str
    base: str
    """The key; empty: it is not stored."""
    head: str
    differences: tuple[Difference, ...]

    @property
    def same(self) -> bool:
        """Whether a cache that BASE filled has what HEAD asks for."""
        return not self.differences


def changes(base: Iterable[KeyedFunction], head: Iterable[KeyedFunction]) -> list[KeyChange]:
    """The functions that both sides ask for, each once, in the order in which BASE asks.

    The first function of a name and of types of inputs is compared with the first on the other
    side, the second with the second. What only one side has is left out.
    """
    there: dict[object, list[KeyedFunction]] = defaultdict(list)
    for one in head:
        there[_place(one)].append(one)
    found: dict[tuple[str, str, str], KeyChange] = {}
    for one in base:
        others = there[_place(one)]
        if others:
            other = others.pop(0)
            same_key = one.key == other.key and one.parts == other.parts
            differing = () if same_key else tuple(compared(one, other))
            change = KeyChange(one.name, one.key, other.key, differing)
            found.setdefault((one.name, one.key, other.key), change)
    return list(found.values())


def _place(function: KeyedFunction) -> object:
    inputs = (part for part in function.parts if part.name == "types of the inputs")
    return function.name, next(inputs, None)


def compared(base: KeyedFunction, head: KeyedFunction) -> Iterator[Difference]:
    """Every part that differs, each once; at least one if the keys differ."""
    if not base.key or not head.key:
        if base.key != head.key:
            old, new = (one.key or "none: it is not stored" for one in (base, head))
            yield Difference(("key",), old, new)
        return
    seen = dict.fromkeys(_of_parts((), base.parts, head.parts))
    if not seen and base.key != head.key:
        seen = {Difference((UNSEEN,), base.key, head.key): None}
    yield from seen


def _of_parts(
    path: tuple[str, ...], base: Sequence[KeyPart], head: Sequence[KeyPart]
) -> Iterator[Difference]:
    """What differs between two sequences of parts of one part."""
    for old, new in _aligned(base, head):
        if old == new:
            continue
        known = old or new
        assert known is not None
        inside = (*path, known.name) if known.name else path
        if old is None or new is None:
            said = [None if one is None else _said(one) for one in (old, new)]
            yield Difference(inside, *said)
            continue
        owner = _class_of(old)
        if old.parts and new.parts and owner == _class_of(new):
            deeper = list(_of_parts((*inside, owner) if owner else inside, old.parts, new.parts))
            if deeper:
                yield from deeper
                continue
        yield Difference(inside, _said(old), _said(new))


def _aligned(
    base: Sequence[KeyPart], head: Sequence[KeyPart]
) -> Iterator[tuple[KeyPart | None, KeyPart | None]]:
    """Pairs of parts that stand for each other."""
    if len(base) == len(head):
        yield from zip(base, head, strict=True)
        return
    matcher = SequenceMatcher(None, base, head, autojunk=False)
    for _, i, j, k, m in matcher.get_opcodes():
        if j - i == m - k:
            yield from zip(base[i:j], head[k:m], strict=True)
        else:  # nobody knows which stands for which
            yield from ((one, None) for one in base[i:j])
            yield from ((None, one) for one in head[k:m])


def _class_of(part: KeyPart) -> str:
    """The class whose key a part is, in words; empty if it is no such key."""
    first = _CLASS.fullmatch(part.parts[0].value) if part.parts else None
    return first[1] if first else ""


def _said(part: KeyPart) -> str:
    """A part in words: its value, the class whose key it is, or what is known of its parts."""
    if owner := _class_of(part):
        return f"the key of {owner}, {part.value[:_BEGINNING]}"
    if part.value:
        return part.value
    return f"({', '.join(map(_said, part.parts))})"
