"""Reading the sections, symbols and relocations of an ELF object file, with limits on their sizes.

pyelftools identifies the file and its sections. The long tables are unpacked here, because reading
one structure at a time would take seconds for a few megabytes. Names of sections and most links
between them are ignored, as they could make a reader run forever. The content may be hostile.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from dataclasses import dataclass
from io import BytesIO
from typing import NamedTuple

from elftools.common.exceptions import ELFError
from elftools.common.utils import struct_parse
from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.enums import ENUM_ST_INFO_BIND, ENUM_ST_INFO_TYPE

MOST_SECTIONS = 10_000
MOST_SYMBOLS = 100_000
MOST_RELOCATIONS = 300_000
LONGEST_NAME = 64 * 2**10
"""Bytes of a symbol, which names the types of all arguments; a graph may have hundreds."""
MOST_NAMES = 32 * 2**20
"""Bytes of all names of a file: names that share bytes in the file do not share them in memory."""

_MACHINES = ("EM_X86_64", "EM_AARCH64", "EM_PPC64", "EM_S390", "EM_RISCV")
_LOCAL = ENUM_ST_INFO_BIND["STB_LOCAL"]
FUNCTION = ENUM_ST_INFO_TYPE["STT_FUNC"]
_SECTION = ENUM_ST_INFO_TYPE["STT_SECTION"]
_FIRST_RESERVED = 0xFF00


class ObjectError(ValueError):
    """The content is not a valid object file, or it exceeds a limit; the message says which."""


class Section(NamedTuple):
    """One section; its content is ``content[offset : offset + size]``."""

    kind: str
    flags: int
    offset: int
    size: int
    link: int
    info: int
    entry_size: int

    @property
    def stored(self) -> int:
        """The number of bytes in the file; 0 for a section of zeros."""
        return 0 if self.kind == "SHT_NOBITS" else self.size

    def has(self, flags: int) -> bool:
        """Return whether the section has all of these flags."""
        return self.flags & flags == flags


class Symbol(NamedTuple):
    """One symbol. Local symbols have no name here, because it means nothing outside the file."""

    name: str
    bind: int
    kind: int
    section: int
    """0 if it is defined in another file; from 0xff00 on, special values."""
    value: int
    size: int

    @property
    def local(self) -> bool:
        """Whether it is defined in this file, and no other file can refer to it."""
        return self.bind == _LOCAL and self.defined

    @property
    def defined(self) -> bool:
        """Whether it is in a section of this file."""
        return 0 < self.section < _FIRST_RESERVED

    @property
    def covers(self) -> bool:
        """Whether it names a range of bytes in its section."""
        return self.defined and self.size > 0 and self.kind != _SECTION


class Relocation(NamedTuple):
    """A position in a section where the linker writes the address of a symbol."""

    offset: int
    kind: int
    symbol: int
    addend: int


@dataclass(frozen=True, slots=True)
class Elf:
    """The tables of an object file; all sections lie within the content."""

    content: bytes
    machine: str
    sections: list[Section]
    symbols: list[Symbol]
    relocations: dict[int, list[Relocation]]
    """The relocations of each section, in the order of their offsets."""

    def bytes_of(self, section: int, start: int, end: int) -> bytes:
        """Return the bytes of a section from start to end; fewer if the section ends before."""
        where = self.sections[section]
        end = min(end, where.stored)
        return self.content[where.offset + start : where.offset + max(start, end)]


def read(content: bytes) -> Elf:
    """Read an object file. Raises ObjectError if it is invalid or exceeds a limit."""
    try:
        file = ELFFile(BytesIO(content))
        machine, sections = _head(file, content)
    except ELFError as error:
        raise ObjectError(f"its ELF header is broken: {str(error)[:200]}") from error
    order = "<" if file.little_endian else ">"
    symbols = _symbols(content, sections, order)
    return Elf(content, machine, sections, symbols, _relocations(content, sections, order, symbols))


def _head(file: ELFFile, content: bytes) -> tuple[str, list[Section]]:
    machine, number = file["e_machine"], file["e_shnum"]
    if file["e_type"] != "ET_REL" or file.elfclass != 64 or machine not in _MACHINES:
        raise ObjectError(
            "it is not a 64-bit object file of a known machine, "
            f"but {file.elfclass} bits, {file['e_type']}, {machine}"
        )
    if not 0 < number <= MOST_SECTIONS:
        raise ObjectError(f"it has {number} sections; 1 to {MOST_SECTIONS} are read")
    size = file.structs.Elf_Shdr.sizeof()
    if file["e_shentsize"] != size or file["e_shoff"] + number * size > len(content):
        raise ObjectError("its table of sections is cut off")
    sections = []
    for index in range(number):
        head = struct_parse(file.structs.Elf_Shdr, file.stream, file["e_shoff"] + index * size)
        section = Section(
            str(head["sh_type"]), head["sh_flags"], head["sh_offset"], head["sh_size"],
            head["sh_link"], head["sh_info"], head["sh_entsize"],
        )  # fmt: skip
        if section.stored and section.offset + section.size > len(content):
            raise ObjectError(f"section {index} is cut off")
        if section.stored and section.has(SH_FLAGS.SHF_COMPRESSED):
            raise ObjectError(f"section {index} is compressed, which numba's never are")
        sections.append(section)
    return machine, sections


def _entries(content: bytes, section: Section, form: struct.Struct, most: int) -> memoryview:
    """Return the bytes of a table of structures. Raises ObjectError if its size is wrong."""
    if section.entry_size != form.size:
        raise ObjectError(f"a table has entries of {section.entry_size} bytes, not {form.size}")
    if section.size % form.size:
        raise ObjectError(f"a table has {section.size} bytes, not a multiple of {form.size}")
    if section.size // form.size > most:
        raise ObjectError(f"a table has {section.size // form.size} entries; {most} are read")
    return memoryview(content)[section.offset : section.offset + section.size]


def _symbols(content: bytes, sections: list[Section], order: str) -> list[Symbol]:
    tables = [section for section in sections if section.kind == "SHT_SYMTAB"]
    if len(tables) != 1 or not 0 < tables[0].link < len(sections):
        raise ObjectError("it has no table of symbols, or no names for them")
    names = sections[tables[0].link]
    if names.kind != "SHT_STRTAB":
        raise ObjectError("the names of its symbols are not in a table of names")
    table = content[names.offset : names.offset + names.size]
    form = struct.Struct(order + "IBBHQQ")
    symbols, total = [], 0
    entries = _entries(content, tables[0], form, MOST_SYMBOLS)
    for start, info, _, section, value, size in form.iter_unpack(entries):
        bind, name = info >> 4, ""
        if bind != _LOCAL:
            end = table.find(b"\0", start, start + LONGEST_NAME)
            if end < 0:
                raise ObjectError(f"the name of a symbol does not end within {LONGEST_NAME} bytes")
            name = table[start:end].decode("utf-8", "backslashreplace")
            total += len(name)
        if total > MOST_NAMES:
            raise ObjectError(f"the names of its symbols have more than {MOST_NAMES} bytes")
        if len(sections) <= section < _FIRST_RESERVED:
            raise ObjectError("a symbol is in a section that does not exist")
        symbols.append(Symbol(name, bind, info & 0xF, section, value, size))
    return symbols


def _relocations(
    content: bytes, sections: list[Section], order: str, symbols: list[Symbol]
) -> dict[int, list[Relocation]]:
    form = struct.Struct(order + "QQq")
    found: dict[int, list[Relocation]] = defaultdict(list)
    left = MOST_RELOCATIONS
    for section in sections:
        if section.kind == "SHT_REL":
            raise ObjectError("its relocations are of a kind that 64-bit machines do not use")
        if section.kind != "SHT_RELA":
            continue
        if not 0 < section.info < len(sections):
            raise ObjectError("relocations are for a section that does not exist")
        table = _entries(content, section, form, left)
        left -= section.size // form.size
        relocations = found[section.info]
        for offset, info, addend in form.iter_unpack(table):
            if info >> 32 >= len(symbols):
                raise ObjectError("a relocation refers to a symbol that does not exist")
            relocations.append(Relocation(offset, info & 0xFFFFFFFF, info >> 32, addend))
    for relocations in found.values():
        relocations.sort()
    return found
