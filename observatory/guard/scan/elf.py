"""The tables of an ELF object file, within bounds: sections, symbols and relocations.

pyelftools says what file it is and where its sections are; the long tables are unpacked here, as
one structure at a time it would take seconds for a file of some megabytes. Of the names of
sections and the links between them, by which a hostile file could make a reader run for ever,
nothing is used. Content may come from strangers.
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
"""Bytes of a symbol: numba's name all types of the arguments, and a graph may have hundreds."""
MOST_NAMES = 32 * 2**20
"""Bytes of all names of a file: they may share their bytes in it, and do not in memory."""

_MACHINES = ("EM_X86_64", "EM_AARCH64", "EM_PPC64", "EM_S390", "EM_RISCV")
_LOCAL = ENUM_ST_INFO_BIND["STB_LOCAL"]
_FUNCTION = ENUM_ST_INFO_TYPE["STT_FUNC"]
_SECTION = ENUM_ST_INFO_TYPE["STT_SECTION"]
_FIRST_RESERVED = 0xFF00


class ObjectError(ValueError):
    """The content is not read as an object file; the message says why."""


class Section(NamedTuple):
    """One section; what it holds is ``content[offset : offset + size]``, if it is not empty."""

    kind: str
    flags: int
    offset: int
    size: int
    link: int
    info: int
    entry_size: int

    @property
    def held(self) -> int:
        """Bytes in the file: none for what is all zeros."""
        return 0 if self.kind == "SHT_NOBITS" else self.size

    def has(self, flags: int) -> bool:
        """Whether it has all of these flags."""
        return self.flags & flags == flags


class Symbol(NamedTuple):
    """One symbol. Local ones have no name here: it means nothing outside of their file."""

    name: str
    bind: int
    kind: int
    section: int
    """0 if it is defined elsewhere; from 0xff00 on what no section holds."""
    value: int
    size: int

    @property
    def local(self) -> bool:
        """Whether no other file can refer to it, and it is in a section."""
        return self.bind == _LOCAL and 0 < self.section < _FIRST_RESERVED

    @property
    def defined(self) -> bool:
        """Whether it is in a section of this file."""
        return 0 < self.section < _FIRST_RESERVED

    @property
    def is_function(self) -> bool:
        """Whether it is code."""
        return self.kind == _FUNCTION

    @property
    def covers(self) -> bool:
        """Whether it names a range of its section."""
        return self.defined and self.size > 0 and self.kind != _SECTION


class Relocation(NamedTuple):
    """A place in a section where the address of something else belongs."""

    offset: int
    kind: int
    symbol: int
    addend: int


@dataclass(frozen=True, slots=True)
class Elf:
    """An object file; all ranges of its sections are inside of the content."""

    content: bytes
    machine: str
    sections: list[Section]
    symbols: list[Symbol]
    relocations: dict[int, list[Relocation]]
    """By section the places in it, in order."""

    def bytes_of(self, section: int, start: int, end: int) -> bytes:
        """What a section holds from start to end; less where it ends before."""
        where = self.sections[section]
        end = min(end, where.held)
        return self.content[where.offset + start : where.offset + max(start, end)]


def read(content: bytes) -> Elf:
    """The tables. Raises ObjectError if the file is none, is broken, or is larger than bounds."""
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
            f"it is no 64-bit object file of a known machine, "
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
        if section.held and section.offset + section.size > len(content):
            raise ObjectError(f"section {index} is cut off")
        if section.held and section.has(SH_FLAGS.SHF_COMPRESSED):
            raise ObjectError(f"section {index} is compressed, which numba's never are")
        sections.append(section)
    return machine, sections


def _entries(content: bytes, section: Section, form: struct.Struct, most: int) -> memoryview:
    """A table of structures, whole. Raises ObjectError."""
    if section.entry_size != form.size:
        raise ObjectError(f"a table has entries of {section.entry_size} bytes, not {form.size}")
    if section.size % form.size:
        raise ObjectError(f"a table has {section.size} bytes, no multiple of {form.size}")
    if section.size // form.size > most:
        raise ObjectError(f"a table has {section.size // form.size} entries; {most} are read")
    return memoryview(content)[section.offset : section.offset + section.size]


def _symbols(content: bytes, sections: list[Section], order: str) -> list[Symbol]:
    tables = [section for section in sections if section.kind == "SHT_SYMTAB"]
    if len(tables) != 1 or not 0 < tables[0].link < len(sections):
        raise ObjectError("it has no table of symbols, or no names for them")
    names = sections[tables[0].link]
    if names.kind != "SHT_STRTAB":
        raise ObjectError("the names of its symbols are no table of names")
    table = content[names.offset : names.offset + names.size]
    form = struct.Struct(order + "IBBHQQ")
    symbols, total = [], 0
    entries = _entries(content, tables[0], form, MOST_SYMBOLS)
    for start, info, _, section, value, size in form.iter_unpack(entries):
        bind, name = info >> 4, ""
        if bind != _LOCAL:
            name = _name(table, start)
            total += len(name)
        if total > MOST_NAMES:
            raise ObjectError(f"the names of its symbols have more than {MOST_NAMES} bytes")
        if len(sections) <= section < _FIRST_RESERVED:
            raise ObjectError("a symbol is in a section that is not there")
        symbols.append(Symbol(name, bind, info & 0xF, section, value, size))
    return symbols


def _name(table: bytes, start: int) -> str:
    end = table.find(b"\0", start, start + LONGEST_NAME)
    if end < 0:
        raise ObjectError(f"the name of a symbol does not end within {LONGEST_NAME} bytes")
    return table[start:end].decode("utf-8", "backslashreplace")


def _relocations(
    content: bytes, sections: list[Section], order: str, symbols: list[Symbol]
) -> dict[int, list[Relocation]]:
    form = struct.Struct(order + "QQq")
    found: dict[int, list[Relocation]] = defaultdict(list)
    left = MOST_RELOCATIONS
    for section in sections:
        if section.kind == "SHT_REL":
            raise ObjectError("its relocations are of the kind that 64-bit machines do not use")
        if section.kind != "SHT_RELA":
            continue
        if not 0 < section.info < len(sections):
            raise ObjectError("relocations are for a section that is not there")
        table = _entries(content, section, form, left)
        left -= section.size // form.size
        places = found[section.info]
        for offset, info, addend in form.iter_unpack(table):
            if info >> 32 >= len(symbols):
                raise ObjectError("a relocation refers to a symbol that is not there")
            places.append(Relocation(offset, info & 0xFFFFFFFF, info >> 32, addend))
    for places in found.values():
        places.sort()
    return found
