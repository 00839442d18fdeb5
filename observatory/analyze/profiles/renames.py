"""What has another name in HEAD: parts that only one side has, paired. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from observatory.store.records.profile import PartChange

Sized: TypeAlias = Mapping[str, tuple[str, float]]
"""By name: where a part belongs, and how much it does."""
_ALIKE = 0.1


def anywhere(sizes: Mapping[str, float]) -> Sized:
    """Parts that belong to no place, by name and with how much they do."""
    return {name: ("", size) for name, size in sizes.items()}


def replaced(
    come: Sized,
    gone: Sized,
    tail: Callable[[str], str] = str,
    alike: float = _ALIKE,
) -> dict[str, str]:
    """Return for names that HEAD alone has the one of BASE alone that each replaces.

    A part that moved keeps the end of its name (``tail``), however much it does. What has another
    name altogether belongs to the same place and does about as much: its size differs by no larger
    share than ``alike``. The largest parts choose first.
    """
    left, found = dict(gone), dict[str, str]()
    for moved in (True, False):
        for name, (place, size) in sorted(come.items(), key=lambda one: (-one[1][1], one[0])):
            if name in found:
                continue
            likely = [
                (old_place != place, abs(old_size - size), old)
                for old, (old_place, old_size) in left.items()
                if (
                    tail(old) == tail(name)
                    if moved
                    else old_place == place and abs(old_size - size) <= alike * max(old_size, size)
                )
            ]
            if likely:
                _, _, found[name] = min(likely)
                del left[found[name]]
    return found


def united(changes: Sequence[PartChange]) -> Iterator[PartChange]:
    """Return the changes, a new part and the one whose place it took as one.

    That is a function that moved, or a part that HEAD does not have and that did about as much:
    of functions, called from the same one.
    """
    come = {one.name: (one.caller or "", _size(one)) for one in changes if one.new}
    gone = {one.name: (one.caller or "", _size(one)) for one in changes if one.head == 0}
    old = replaced(come, gone, _moving)
    before = {one.name: one for one in changes if one.name in old.values()}
    for change in changes:
        if change.name in old:
            past = before[old[change.name]]
            yield change.model_copy(
                update={
                    "base": past.base, "calls": change.calls + past.calls, "own": past.own,
                    "new": False, "replaces": past.name,
                }
            )  # fmt: skip
        elif change.name not in before:
            yield change


def _size(change: PartChange) -> float:
    """How much a part does that only one side has: the entries of a function, or the calls."""
    return change.base + change.head if change.kind == "function" else abs(change.calls)


def _moving(name: str) -> str:
    """The name that a function keeps when it moves to another module; itself if that is none."""
    function = name.partition(":")[2]
    return name if function.startswith("<") else function or name
