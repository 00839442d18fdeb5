"""By which module importing takes longer. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from observatory.store.records.profile import ImportChange, ImportedModule
from observatory.store.records.sample import Sample

_Seconds = dict[str, float]
_ENOUGH = 0.25
"""A module with a smaller share of the additional time does not explain it."""
_ALIKE = 0.25
"""A module may have got another name if its seconds differ by no larger share."""


def imports_of(samples: Iterable[Sample]) -> list[ImportedModule]:
    """Return what the newest sample that says it has imported; empty if none does."""
    found = [s.profile.imports for s in samples if s.profile is not None and s.profile.imports]
    return found[-1] if found else []


def import_change(
    base: Sequence[ImportedModule], head: Sequence[ImportedModule], more: float
) -> ImportChange | None:
    """Return the module by which importing takes longer; None where none explains enough of it.

    A module that one side alone imports counts with all such modules that it imports. If HEAD only
    moved or renamed a module, it counts with what it takes longer than the one that it replaces.

    ``base``, ``head``: of one sample a side; ``more``: the seconds that importing takes longer.
    """
    if not base or not head:
        return None
    before, after = ({one.name: one.seconds for one in side} for side in (base, head))
    changes = [
        ImportChange(name=name, base=before[name], head=seconds)
        for name, seconds in after.items() if name in before
    ]  # fmt: skip
    changes += _new(_alone(head, before), _alone(base, after))
    most = max(changes, key=_longer)
    return most if _longer(most) > 0 and _longer(most) >= _ENOUGH * more else None


def _longer(change: ImportChange) -> float:
    return change.head - (change.base or 0.0)


def _alone(modules: Sequence[ImportedModule], other: Collection[str]) -> _Seconds:
    """The outermost modules that the other side does not import, with all such inside them."""
    found: _Seconds = {}
    chain: list[tuple[int, str]] = []
    for one in modules:
        while chain and chain[-1][0] >= one.depth:
            chain.pop()
        if one.name not in other:
            if not chain:
                chain.append((one.depth, one.name))
            first = chain[0][1]
            found[first] = found.get(first, 0.0) + one.seconds
    return found


def _new(come: _Seconds, gone: _Seconds) -> Iterator[ImportChange]:
    """The modules that HEAD alone imports, each with the one of BASE that it replaces."""
    left = dict(gone)
    for name, seconds in sorted(come.items(), key=lambda one: -one[1]):
        likely = sorted(
            (not _same_name(one, name), abs(taken - seconds), one)
            for one, taken in left.items()
            if _same_name(one, name) or abs(taken - seconds) <= _ALIKE * max(taken, seconds)
        )
        old = likely[0][2] if likely else None
        before = None if old is None else left.pop(old)
        yield ImportChange(name=name, base=before, head=seconds, replaces=old)


def _same_name(one: str, other: str) -> bool:
    return one.rpartition(".")[2] == other.rpartition(".")[2]
