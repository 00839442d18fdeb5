"""Whether a machine got faster or slower between nights, by work that never changes. Pure.

A piece of work has moved if its median is further from the median of the earlier looks than these
scatter: three robust standard deviations (from the median absolute deviation), and at least 5 %.
The machine has moved if more than half of the pieces have, all in one direction: what else runs,
such as a busy neighbour, slows all of them as well, and is the machine's, too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

from observatory.analyze.chance import NORMAL
from observatory.store.records.sentinels import Sentinel

LOOKS = 10
"""Earlier looks that one is compared with."""
_LEAST = 0.05
_UNKNOWN = 0.10
"""The same with fewer than three earlier looks, whose scatter is not known."""
_FEW = 3
NEAR = timedelta(hours=12)
"""Measurements this far from a look are of its night."""


@dataclass(frozen=True)
class Look:
    """One look at a machine, compared with the earlier ones."""

    sentinel: Sentinel
    ratios: Mapping[str, float]
    """By piece, its time over that of the earlier looks; empty for the first look."""
    moved: frozenset[str]
    """The pieces that moved."""
    changes: Sequence[tuple[str, str, str]]
    """What is another than at the look before: name, before, now."""

    @property
    def machine_moved(self) -> bool:
        """Whether the machine itself got faster or slower."""
        return machine_moved(self.ratios, self.moved)

    @property
    def ratio(self) -> float:
        """How many times as long the work took: the median of all pieces."""
        return median(self.ratios.values()) if self.ratios else 1.0


def looks(sentinels: Iterable[Sentinel]) -> list[Look]:
    """Every look in the order of time, compared with the earlier ones of its `place_of`."""
    earlier: dict[tuple[str, str, str], list[Sentinel]] = defaultdict(list)
    found = []
    for one in sorted(sentinels, key=lambda one: one.taken_at):
        own = earlier[place_of(one)]
        found.append(_look(one, own[-LOOKS:]))
        own.append(one)
    return found


def place_of(sentinel: Sentinel) -> tuple[str, str, str]:
    """The machine, the subject and the Python, whose looks are compared with each other."""
    return sentinel.machine.machine, sentinel.subject.label, sentinel.versions.python


def moved_near(found: Iterable[Look], machine: str, moment: datetime) -> Look | None:
    """The look of the night in which something was measured, if the machine had moved by then."""
    near = [
        one
        for one in found
        if one.sentinel.machine.machine == machine and abs(one.sentinel.taken_at - moment) <= NEAR
    ]
    last = min(near, key=lambda one: abs(one.sentinel.taken_at - moment), default=None)
    return last if last is not None and last.machine_moved else None


def pieces(
    now: Mapping[str, float], before: Sequence[Mapping[str, float]]
) -> tuple[dict[str, float], frozenset[str]]:
    """By piece, its seconds over those of earlier looks; and the pieces that moved."""
    ratios, moved = {}, set()
    for name, value in now.items():
        earlier = [each[name] for each in before if name in each]
        if not earlier:
            continue
        level = median(earlier)
        ratios[name] = value / level
        if abs(value / level - 1) > _scatter(earlier, level):
            moved.add(name)
    return ratios, frozenset(moved)


def machine_moved(ratios: Mapping[str, float], moved: Collection[str]) -> bool:
    """Whether more than half of the pieces moved, all in one direction."""
    slower = sum(ratios[name] > 1 for name in moved)
    return max(slower, len(moved) - slower) > len(ratios) / 2


def _look(one: Sentinel, before: Sequence[Sentinel]) -> Look:
    ratios, moved = pieces(one.medians, [each.medians for each in before])
    changes = tuple(_changes(before[-1], one)) if before else ()
    return Look(one, ratios, moved, changes)


def _scatter(earlier: Sequence[float], level: float) -> float:
    if len(earlier) < _FEW:
        return _UNKNOWN
    deviation = NORMAL * median(abs(each - level) for each in earlier)
    return max(_LEAST, 3 * deviation / level)


def _changes(before: Sentinel, now: Sentinel) -> Iterator[tuple[str, str, str]]:
    """What of the system and of the installed distributions is another, or came or went."""
    pairs = (before.system, now.system), (before.versions.every, now.versions.every)
    for old, new in pairs:
        for name in sorted(old.keys() | new.keys()):
            if old.get(name) != new.get(name):
                yield name, old.get(name, "absent"), new.get(name, "absent")
