"""Symbols as numba mangles them: which function they name, and whether another may get the same.

numba (``numba.core.itanium_mangler`` and ``funcdesc``, the same from 0.60 to 0.68) writes
``_ZN`` and the parts of the qualified name, each after its length; the uid of the function as the
ABI tag ``v<uid>``; a tag for the options; ``E``; the types of the arguments. Only the uid
distinguishes two functions with the same name, options and types.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

SMALLEST_RANDOM = 2**64
"""Counted uids are smaller; random ones, version 4 UUIDs as PyTensor draws, are never smaller."""

Class = Literal["collided", "vulnerable", "harmless"]
"""The class of a symbol that several object files could define.

``collided``: its uid was counted, and different functions have it: a process that loads two of them
calls the same one for both. ``vulnerable``: its uid was counted, and one function has it so far:
another process that counts to the same number may give its symbol to another function.
``harmless``: its bodies differ, but belong to one function: copies that were optimised differently.
"""
_WRAPPERS = ("cfunc.", "__gufunc__.", "__ufunc__.")
_WRAPPER_NAMESPACE = "cpython"
_LENGTH = re.compile(r"0|[1-9][0-9]{0,5}")
_UID = re.compile(r"v(0|[1-9][0-9]{0,99})")
_BRACKETED = re.compile(r"_3c([a-z]+)_3e")


@dataclass(frozen=True, slots=True)
class Name:
    """What a symbol says about its function."""

    qualified: str
    """The module and the qualified name, joined by dots."""
    uid: int | None
    wrapper: bool
    """Whether it is a wrapper that Python, C or NumPy calls, and not the function itself."""

    @property
    def counted(self) -> bool:
        """Whether another process may count to the same uid."""
        return self.uid is not None and self.uid < SMALLEST_RANDOM

    @property
    def fixed(self) -> bool:
        """Whether it is a top-level function of numba's own modules.

        A version of numba has only one function with its name, whatever the uid is.
        """
        return self.qualified.startswith("numba.") and "<" not in self.qualified


def parse(symbol: str) -> Name | None:
    """Return the name in a symbol; None if numba's mangler did not make it (C, runtime helpers)."""
    rest, wrapper = symbol, False
    for prefix in _WRAPPERS:
        if symbol.startswith(prefix):
            rest, wrapper = symbol[len(prefix) :], True
    nested = rest.startswith("_ZN")
    if not rest.startswith("_Z"):
        return None
    parts, at = _identifiers(rest, 3 if nested else 2, None if nested else 1)
    tags = []
    while rest[at : at + 1] == "B":
        tag, at = _identifiers(rest, at + 1, 1)
        tags += tag
    if not any(parts) or (nested and rest[at : at + 1] != "E"):
        return None
    if parts[0] == _WRAPPER_NAMESPACE and len(parts) > 1:
        parts, wrapper = parts[1:], True
    uid = _UID.fullmatch(tags[0]) if tags else None
    qualified = _BRACKETED.sub(r"<\1>", ".".join(parts))
    return Name(qualified, int(uid[1]) if uid else None, wrapper)


def class_of(name: Name | None, bodies: int, compiled: int) -> Class | None:
    """Return the class of a symbol, or None if it has none.

    ``bodies`` is the number of its different bodies, and ``compiled`` the number of those that
    cannot be copies of another.
    """
    if name is not None and name.counted and not name.fixed:
        return "collided" if compiled > 1 else "vulnerable"
    return "harmless" if bodies > 1 else None


def _identifiers(text: str, at: int, most: int | None) -> tuple[list[str], int]:
    """Identifiers that follow their lengths, and the position after the last of them."""
    found: list[str] = []
    while (most is None or len(found) < most) and (length := _LENGTH.match(text, at)):
        end = length.end() + int(length[0])
        if end > len(text):
            break
        found.append(text[length.end() : end])
        at = end
    return found, at
