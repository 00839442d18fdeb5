"""Looks at a machine in words."""

from __future__ import annotations

from observatory.analyze.sentinel import Look
from observatory.text import units
from observatory.text.plain import clean
from observatory.text.words import first_of, several

_CHANGES = 4


def verdict(look: Look) -> str:
    """What a look says of the machine, without a full stop."""
    if not look.ratios:
        return "this is the first measurement; later ones are compared with it"
    if not look.machine_moved:
        return "as before"
    word = "slower" if look.ratio > 1 else "faster"
    return (
        f"the machine is {word} ({units.signed(look.ratio)}): {len(look.moved)} of "
        f"{several(len(look.ratios), 'piece')} of fixed work changed"
    )


def changed(look: Look) -> str:
    """What is another than at the look before; empty if nothing is."""
    told = [f"{clean(name)} {clean(old)} → {clean(new)}" for name, old, new in look.changes]
    return first_of(told, _CHANGES)


def of_the_night(look: Look) -> str:
    """Why a change of times is rather one of the machine; without a full stop."""
    because = changed(look)
    return (
        f"{verdict(look)} in that night" + (f", and it changed: {because}" if because else "")
        + "; counts and work are still right"
    )  # fmt: skip
