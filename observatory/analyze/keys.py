"""What differs between the keys that two processes give to the same functions. Pure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from observatory.benchmarks.messages import KeyedFunction, KeyPart

_CLASS = re.compile(r"<class '(?:[\w.]+\.)?(\w+)'>")
_BEGINNING = 12
"""Digits of a hash that tell it from others."""
_MOST = 6
"""Parts that are told one by one where two sides have other numbers of them; more are counted."""
ONE_SIDED = "parts that differ"
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
        """Whether nothing differs; of a function that is stored: HEAD finds what BASE stored."""
        return not self.differences

    @property
    def stored(self) -> bool:
        """Whether the function has a key on either side."""
        return bool(self.base or self.head)


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
    pairs = [(old, new) for old, new in _aligned(base, head) if old != new]
    if len(base) != len(head) and len(pairs) > _MOST:  # another graph, not another part of one
        olds, news = zip(*pairs, strict=True)
        yield Difference((*path, ONE_SIDED), _counted(olds), _counted(news))
        return
    for old, new in pairs:
        if old and new:
            yield from _of_pair(path, old, new)
        else:
            known = old or new
            assert known is not None
            sides = [None if one is None else _said(one) for one in (old, new)]
            yield Difference(_inside(path, known), *sides)


def _of_pair(path: tuple[str, ...], old: KeyPart, new: KeyPart) -> Iterator[Difference]:
    """What differs between two parts that stand for each other: of their own parts, if possible."""
    inside = _inside(path, old)
    owners = _class_of(old), _class_of(new)
    found: list[Difference] = []
    if old.parts and new.parts and owners[0] == owners[1]:
        deeper = (*inside, owners[0]) if owners[0] else inside
        found = list(_of_parts(deeper, old.parts, new.parts))
    elif owners[0] and owners[0] in map(_class_of, new.parts):  # a release added to the key
        found = list(_of_parts(inside, [replace(old, name="")], new.parts))
    elif owners[1] and owners[1] in map(_class_of, old.parts):
        found = list(_of_parts(inside, old.parts, [replace(new, name="")]))
    yield from found or [Difference(inside, _said(old), _said(new))]


def _inside(path: tuple[str, ...], part: KeyPart) -> tuple[str, ...]:
    return (*path, part.name) if part.name else path


def _aligned(
    base: Sequence[KeyPart], head: Sequence[KeyPart]
) -> Iterator[tuple[KeyPart | None, KeyPart | None]]:
    """Pairs of parts that stand for each other; None: there is no such part on one side."""
    if len(base) == len(head):
        yield from zip(base, head, strict=True)
        return
    for old, new in _blocks(base, head):
        if len(old) == len(new):
            yield from zip(old, new, strict=True)
            continue
        kinds = [[(one.name, _class_of(one)) for one in side] for side in (old, new)]
        matcher = SequenceMatcher(None, kinds[0], kinds[1], autojunk=False)
        for tag, i, j, k, m in matcher.get_opcodes():
            if tag == "equal":
                yield from zip(old[i:j], new[k:m], strict=True)
            else:  # nobody knows which stands for which
                yield from ((one, None) for one in old[i:j])
                yield from ((None, one) for one in new[k:m])


def _blocks(
    base: Sequence[KeyPart], head: Sequence[KeyPart]
) -> Iterator[tuple[Sequence[KeyPart], Sequence[KeyPart]]]:
    """Runs of parts that are equal on both sides, and what lies between two of them."""
    for _, i, j, k, m in SequenceMatcher(None, base, head, autojunk=False).get_opcodes():
        yield base[i:j], head[k:m]


def _counted(parts: Sequence[KeyPart | None]) -> str | None:
    """Many parts in words: how many there are of each class; None if there are none."""
    counts = Counter(_classes(part) or "of other kinds" for part in parts if part)
    return ", ".join(f"{number} {name}" for name, number in counts.most_common()) or None


def _classes(part: KeyPart) -> str:
    """The class of a part, or of the last of its parts that has one: of a node, its Op."""
    inner = (_classes(one) for one in reversed(part.parts))
    return _class_of(part) or next(filter(None, inner), "")


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
