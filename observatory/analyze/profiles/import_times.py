"""By which module importing takes longer. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from observatory.analyze.profiles.modules import last
from observatory.analyze.profiles.renames import anywhere, replaced
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
    old = replaced(anywhere(come), anywhere(gone), last, _ALIKE)
    for name, seconds in come.items():
        before = gone[old[name]] if name in old else None
        yield ImportChange(name=name, base=before, head=seconds, replaces=old.get(name))
