"""By which module importing takes longer. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from observatory.store.records.profile import ImportChange, ImportedModule
from observatory.store.records.sample import Sample

_Seconds = dict[str, float]


def imports_of(samples: Iterable[Sample]) -> list[ImportedModule]:
    """Return what the newest sample that says it has imported; empty if none does."""
    found = [s.profile.imports for s in samples if s.profile is not None and s.profile.imports]
    return found[-1] if found else []


def import_change(
    base: Sequence[ImportedModule], head: Sequence[ImportedModule]
) -> ImportChange | None:
    """Return the module that HEAD imports longer than BASE by most; None if there is none.

    A module that BASE does not import counts with all new ones that it imports.
    """
    if not base or not head:
        return None
    own: _Seconds = {one.name: one.seconds for one in base}
    new: _Seconds = {}
    changes = []
    chain: list[tuple[int, str]] = []
    for one in head:
        while chain and chain[-1][0] >= one.depth:
            chain.pop()
        if one.name in own:
            changes.append(ImportChange(name=one.name, base=own[one.name], head=one.seconds))
            continue
        if not chain:
            chain.append((one.depth, one.name))
        first = chain[0][1]
        new[first] = new.get(first, 0.0) + one.seconds
    changes += [ImportChange(name=name, base=None, head=seconds) for name, seconds in new.items()]
    most = max(changes, key=lambda one: one.head - (one.base or 0.0), default=None)
    return most if most is not None and most.head > (most.base or 0.0) else None
