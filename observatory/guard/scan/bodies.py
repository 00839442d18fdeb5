"""What a function in an object file is: its code, and what the code refers to.

Code is not enough. Two functions that differ in one number are the same bytes where the number is
a constant beside the code, and two that call different functions differ in a relocation only. So
a body is the code together with every place in it where an address belongs: another file can
define what has a name there, hence the name; what has none is content of this file, hence the
content itself with the places in that. Names of local symbols are left out, as numba puts
addresses of the process into them.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections import defaultdict

from elftools.elf.constants import SH_FLAGS

from observatory.guard.scan.elf import Elf, ObjectError, Relocation, Symbol

_DEEPEST = 50
_X86_64_FROM_THE_NEXT_INSTRUCTION = (2, 4, 9, 41, 42)
"""PC32, PLT32, GOTPCREL: the addend contains at least the distance to the end of the place."""
_DISTANCE = 4


class Bodies:
    """The bodies of one object file."""

    def __init__(self, elf: Elf) -> None:
        self._elf = elf
        # Whatever ranges a file claims, not much more is hashed than what it holds.
        self._left = 8 * len(elf.content)
        self._digests: dict[tuple[int, int, int], bytes | None] = {}
        self._covering: dict[int, list[Symbol]] = defaultdict(list)
        for symbol in elf.symbols:
            if symbol.covers:
                self._covering[symbol.section].append(symbol)
        for symbols in self._covering.values():
            symbols.sort(key=lambda symbol: (symbol.value, not symbol.local, symbol.name))
        self._starts = {
            section: [symbol.value for symbol in symbols]
            for section, symbols in self._covering.items()
        }
        self._referred = self._boundaries()

    def digest(self, function: Symbol) -> bytes:
        """Equal for equal bodies, in whatever file. Raises ObjectError if it is not in the file."""
        end = function.value + function.size
        if not 0 < function.size <= end <= self._elf.sections[function.section].held:
            raise ObjectError(f"the code of {function.name[:200]!r} is not in it")
        return self._content(function.section, function.value, end, 0)

    def _boundaries(self) -> dict[int, list[int]]:
        """By section every place in it that is referred to, in order."""
        found: dict[int, set[int]] = defaultdict(set)
        for places in self._elf.relocations.values():
            for place in places:
                target = self._elf.symbols[place.symbol]
                if target.local:
                    found[target.section].add(self._target(place, target))
        return {section: sorted(offsets) for section, offsets in found.items()}

    def _target(self, place: Relocation, symbol: Symbol) -> int:
        """The offset in the section of a local symbol that a place refers to."""
        offset = symbol.value + place.addend
        if self._elf.machine != "EM_X86_64" or place.kind not in _X86_64_FROM_THE_NEXT_INSTRUCTION:
            return offset
        offset += _DISTANCE
        section = self._elf.sections[symbol.section]
        if section.has(SH_FLAGS.SHF_MERGE) and not section.has(SH_FLAGS.SHF_STRINGS):
            # An operand after the place, of up to 4 bytes, makes the distance longer.
            cell = section.entry_size or 1
            up = -offset % cell
            offset += up if up <= _DISTANCE else 0
        return offset

    def _content(self, section: int, start: int, end: int, depth: int) -> bytes:
        """The digest of a range of a section with everything that it refers to."""
        key = (section, start, end)
        if key in self._digests:
            return self._digests[key] or b"itself"
        if depth > _DEEPEST:
            raise ObjectError(f"its constants refer to one another more than {_DEEPEST} deep")
        self._digests[key] = None
        places = self._elf.relocations.get(section, [])
        first = bisect_left(places, start, key=lambda place: place.offset)
        last = bisect_left(places, end, key=lambda place: place.offset)
        self._left -= end - start + 24 * (last - first)
        if self._left < 0:
            raise ObjectError("its functions or constants overlap")
        hashed = hashlib.sha256(f"{end - start}:".encode())
        hashed.update(self._elf.bytes_of(section, start, end))
        for place in places[first:last]:
            hashed.update(f"{place.offset - start}:{place.kind}:".encode())
            hashed.update(self._reference(place, depth))
        self._digests[key] = digest = hashed.digest()
        return digest

    def _reference(self, place: Relocation, depth: int) -> bytes:
        symbol = self._elf.symbols[place.symbol]
        if not symbol.local:
            return f"{len(symbol.name)}:{symbol.name}:{place.addend}".encode()
        offset = self._target(place, symbol)
        covering = self._symbol_at(symbol.section, offset)
        if covering is not None and not covering.local:
            return f"{len(covering.name)}:{covering.name}:{offset - covering.value}".encode()
        if covering is not None:
            start, end = covering.value, covering.value + covering.size
        else:
            start, end = self._unnamed(symbol.section, offset)
        return f"{offset - start}:".encode() + self._content(symbol.section, start, end, depth + 1)

    def _symbol_at(self, section: int, offset: int) -> Symbol | None:
        index = bisect_right(self._starts.get(section, []), offset) - 1
        if index < 0:
            return None
        symbol = self._covering[section][index]
        return symbol if offset < symbol.value + symbol.size else None

    def _unnamed(self, section: int, offset: int) -> tuple[int, int]:
        """The range of a constant without a symbol: its cell, or up to what is referred to next."""
        where = self._elf.sections[section]
        if not 0 <= offset < where.size:
            return offset, offset
        if where.has(SH_FLAGS.SHF_MERGE) and not where.has(SH_FLAGS.SHF_STRINGS):
            cell = where.entry_size or 1
            start = offset - offset % cell
            return start, min(start + cell, where.size)
        referred = self._referred[section]
        after = bisect_right(referred, offset)
        end = referred[after] if after < len(referred) else where.size
        return offset, min(end, where.size)
