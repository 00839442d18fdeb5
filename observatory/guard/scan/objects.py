"""The functions in an object file that other files can call, and a digest of each one's body.

The code alone does not identify a function: two functions that differ in one number have the same
code if the number is a constant stored beside it, and two that call different functions differ in a
relocation only. So a body is the code together with everything it refers to. A symbol that another
file may define counts by its name; anything else counts by its content, including what that refers
to in turn. Names of local symbols are ignored, because numba puts addresses of the process in them.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections import defaultdict
from typing import NamedTuple

from elftools.elf.constants import SH_FLAGS
from elftools.elf.enums import ENUM_ST_INFO_BIND

from observatory.guard.scan import elf
from observatory.guard.scan.elf import Elf, ObjectError, Relocation, Section, Symbol

_FORMATS = {
    "Mach-O (macOS)": (
        b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xfe\xed\xfa\xcf", b"\xfe\xed\xfa\xce",
        b"\xca\xfe\xba\xbe",
    ),
    "COFF (Windows)": (b"\x64\x86", b"\x64\xaa", b"\x4c\x01", b"\x00\x00\xff\xff"),
}  # fmt: skip
"""The first bytes of object files that are not read yet."""
_ENVIRONMENT = "_ZN08NumbaEnv"
_GLOBAL = ENUM_ST_INFO_BIND["STB_GLOBAL"]
_DEEPEST = 50
_X86_64_FROM_THE_NEXT_INSTRUCTION = (2, 4, 9, 41, 42)
"""PC32, PLT32, GOTPCREL: the addend includes the distance from the place to its end."""
_DISTANCE = 4


class Function(NamedTuple):
    """A function that other object files can call by its symbol."""

    symbol: str
    body: bytes
    """A digest, equal for equal bodies."""
    own: bool
    """Whether the file was compiled for it; copies of functions that it calls are weak symbols."""


class ObjectCode(NamedTuple):
    """The functions of an object file, and the symbols of all functions linked into it."""

    functions: list[Function]
    linked: list[str]
    """The symbols of the functions it was made of, including those that were inlined away."""


def read(content: bytes) -> ObjectCode:
    """Return the functions of an object file, without local ones.

    Raises ObjectError for content that is not an ELF object file, is broken, or exceeds a limit.
    """
    if not content.startswith(b"\x7fELF"):
        for name, beginnings in _FORMATS.items():
            if content.startswith(beginnings):
                raise ObjectError(f"object files of the format {name} are not supported yet")
        raise ObjectError("the object code has an unknown format")
    file = elf.read(content)
    bodies = _Bodies(file)
    return ObjectCode(
        [
            Function(symbol.name, bodies.digest(symbol), symbol.bind == _GLOBAL)
            for symbol in file.symbols
            if symbol.kind == elf.FUNCTION and symbol.defined and not symbol.local
        ],
        [
            "_ZN" + symbol.name.removeprefix(_ENVIRONMENT)
            for symbol in file.symbols
            if symbol.name.startswith(_ENVIRONMENT)
        ],
    )


class _Bodies:
    """The digests of the bodies in one object file."""

    def __init__(self, file: Elf) -> None:
        self._elf = file
        # A file may claim any ranges, but little more than its size is hashed.
        self._left = 8 * len(file.content)
        self._digests: dict[tuple[int, int, int], bytes | None] = {}
        self._covering: dict[int, list[Symbol]] = defaultdict(list)
        for symbol in file.symbols:
            if symbol.covers:
                self._covering[symbol.section].append(symbol)
        for symbols in self._covering.values():
            symbols.sort(key=lambda symbol: (symbol.value, not symbol.local, symbol.name))
        targets: dict[int, set[int]] = defaultdict(set)
        for relocations in file.relocations.values():
            for relocation in relocations:
                target = file.symbols[relocation.symbol]
                if target.local:
                    targets[target.section].add(self._target(relocation, target))
        # The offsets in each section that relocations refer to.
        self._targets = {section: sorted(offsets) for section, offsets in targets.items()}

    def digest(self, function: Symbol) -> bytes:
        """Return a digest that is equal for equal bodies, in all files.

        Raises ObjectError if the code is not in the file, or if its references exceed a limit.
        """
        end = function.value + function.size
        if not 0 < function.size <= end <= self._elf.sections[function.section].stored:
            raise ObjectError(f"the code of {function.name[:200]!r} is not in it")
        return self._content(function.section, function.value, end, 0)

    def _target(self, relocation: Relocation, symbol: Symbol) -> int:
        """The offset, in the section of a local symbol, that a relocation refers to."""
        offset = symbol.value + relocation.addend
        kinds = _X86_64_FROM_THE_NEXT_INSTRUCTION
        if self._elf.machine != "EM_X86_64" or relocation.kind not in kinds:
            return offset
        offset += _DISTANCE
        section = self._elf.sections[symbol.section]
        if _has_cells(section):
            # An operand of up to 4 bytes after the place makes the distance longer.
            up = -offset % (section.entry_size or 1)
            offset += up if up <= _DISTANCE else 0
        return offset

    def _content(self, section: int, start: int, end: int, depth: int) -> bytes:
        """The digest of a range of a section and of everything that it refers to."""
        key = (section, start, end)
        if key in self._digests:
            return self._digests[key] or b"itself"
        if depth > _DEEPEST:
            raise ObjectError(f"its constants refer to one another more than {_DEEPEST} deep")
        self._digests[key] = None
        relocations = self._elf.relocations.get(section, [])
        first = bisect_left(relocations, start, key=lambda one: one.offset)
        last = bisect_left(relocations, end, key=lambda one: one.offset)
        self._left -= end - start + 24 * (last - first)
        if self._left < 0:
            raise ObjectError("its functions or constants overlap")
        digest = hashlib.sha256(f"{end - start}:".encode())
        digest.update(self._elf.bytes_of(section, start, end))
        for relocation in relocations[first:last]:
            digest.update(f"{relocation.offset - start}:{relocation.kind}:".encode())
            digest.update(self._reference(relocation, depth))
        self._digests[key] = found = digest.digest()
        return found

    def _reference(self, relocation: Relocation, depth: int) -> bytes:
        symbol = self._elf.symbols[relocation.symbol]
        if not symbol.local:
            return f"{len(symbol.name)}:{symbol.name}:{relocation.addend}".encode()
        offset = self._target(relocation, symbol)
        covering = self._symbol_at(symbol.section, offset)
        if covering is not None and not covering.local:
            return f"{len(covering.name)}:{covering.name}:{offset - covering.value}".encode()
        if covering is not None:
            start, end = covering.value, covering.value + covering.size
        else:
            start, end = self._unnamed(symbol.section, offset)
        return f"{offset - start}:".encode() + self._content(symbol.section, start, end, depth + 1)

    def _symbol_at(self, section: int, offset: int) -> Symbol | None:
        symbols = self._covering.get(section, [])
        index = bisect_right(symbols, offset, key=lambda symbol: symbol.value) - 1
        covers = index >= 0 and offset < symbols[index].value + symbols[index].size
        return symbols[index] if covers else None

    def _unnamed(self, section: int, offset: int) -> tuple[int, int]:
        """The range of a constant without a symbol: its cell, or up to the next target."""
        where = self._elf.sections[section]
        if not 0 <= offset < where.size:
            return offset, offset
        if _has_cells(where):
            cell = where.entry_size or 1
            start = offset - offset % cell
            return start, min(start + cell, where.size)
        targets = self._targets[section]
        after = bisect_right(targets, offset)
        return offset, min(targets[after] if after < len(targets) else where.size, where.size)


def _has_cells(section: Section) -> bool:
    """Whether a section consists of constants of one size, which the linker may merge."""
    return section.has(SH_FLAGS.SHF_MERGE) and not section.has(SH_FLAGS.SHF_STRINGS)
