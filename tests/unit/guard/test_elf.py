from __future__ import annotations

import struct
from dataclasses import dataclass

import pytest
from elftools.elf.enums import ENUM_SH_TYPE_BASE

from observatory.guard.scan import elf
from observatory.guard.scan.elf import ObjectError, read
from tests.factories_scan import compiled, object_of

CODE = object_of({"f": "x * 0.1 + __builtin_sin(x)", "g": "x * 7.5"}, "-fno-pic")
HEAD = struct.Struct("<16sHHIQQQIHHHHHH")
SECTION = struct.Struct("<IIQQQQIIQQ")
FIELDS = ("name", "kind", "flags", "address", "offset", "size", "link", "info", "align", "entry")
KINDS = ENUM_SH_TYPE_BASE


@dataclass
class Changed:
    """An object file of which fields can be set."""

    content: bytearray

    def head(self, index: int, value: int) -> Changed:
        fields = list(HEAD.unpack_from(self.content))
        fields[index] = value
        HEAD.pack_into(self.content, 0, *fields)
        return self

    def section(self, which: str, **fields: int) -> Changed:
        """Change the first section of this kind."""
        start, number = HEAD.unpack_from(self.content)[6], HEAD.unpack_from(self.content)[12]
        for place in range(start, start + number * SECTION.size, SECTION.size):
            values = dict(zip(FIELDS, SECTION.unpack_from(self.content, place), strict=True))
            if values["kind"] == KINDS[which]:
                SECTION.pack_into(self.content, place, *(values | fields).values())
                return self
        raise AssertionError(f"no section is {which}")

    def refused(self, why: str) -> None:
        with pytest.raises(ObjectError, match=why):
            read(bytes(self.content))


@pytest.fixture
def changed() -> Changed:
    return Changed(bytearray(CODE))


def test_sections_symbols_and_relocations_are_read() -> None:
    file = read(CODE)
    named = {symbol.name: symbol for symbol in file.symbols if symbol.name}
    assert {"f", "g", "sin"} <= named.keys()
    assert named["f"].kind == elf.FUNCTION
    assert named["f"].defined
    assert not named["f"].local
    assert not named["sin"].defined
    code = file.bytes_of(named["f"].section, named["f"].value, named["f"].value + named["f"].size)
    assert code in CODE
    assert len(code) == named["f"].size > 0
    called = {file.symbols[place.symbol].name for place in file.relocations[named["f"].section]}
    assert "sin" in called


def test_the_name_of_a_local_symbol_is_not_read() -> None:
    code = compiled("__attribute__((noinline)) static int hidden(int x) { return x * x; }"
                    "int f(int x) { return hidden(x) + hidden(x + 1); }")  # fmt: skip
    assert {symbol.name for symbol in read(code).symbols} == {"", "f"}


def test_every_cut_of_an_object_file_is_refused() -> None:
    for length in range(0, len(CODE), 7):
        with pytest.raises(ObjectError):
            read(CODE[:length])


@pytest.mark.parametrize(
    ("index", "value", "why"),
    [
        (1, 2, "64 bits, ET_EXEC"),
        (1, 0xFF77, "64 bits, 65399"),
        (2, 8, "EM_MIPS"),
        (2, 0xABCD, "43981"),
        (6, 2**63, "table of sections is cut off"),
        (6, 2**64 - 64, "table of sections is cut off"),
        (11, 0, "table of sections is cut off"),
        (12, 0, "it has 0 sections"),
        (12, 0xFFFF, "it has 65535 sections"),
        (12, 9999, "table of sections is cut off"),
    ],
)  # fmt: skip
def test_a_head_that_claims_what_is_not_there_is_refused(
    changed: Changed, index: int, value: int, why: str
) -> None:
    changed.head(index, value).refused(why)


@pytest.mark.parametrize(
    ("kind", "fields", "why"),
    [
        ("SHT_SYMTAB", {"size": 2**63}, "is cut off"),
        ("SHT_SYMTAB", {"offset": 2**64 - 8}, "is cut off"),
        ("SHT_SYMTAB", {"entry": 0}, "entries of 0 bytes, not 24"),
        ("SHT_SYMTAB", {"size": 25}, "25 bytes, not a multiple of 24"),
        ("SHT_SYMTAB", {"link": 0}, "no names for them"),
        ("SHT_SYMTAB", {"link": 2**32 - 1}, "no names for them"),
        ("SHT_SYMTAB", {"link": 1}, "are not in a table of names"),
        ("SHT_SYMTAB", {"kind": 1}, "no table of symbols"),
        ("SHT_SYMTAB", {"size": 24}, "refers to a symbol that does not exist"),
        ("SHT_RELA", {"kind": KINDS["SHT_SYMTAB"]}, "no table of symbols"),
        ("SHT_RELA", {"kind": KINDS["SHT_REL"]}, "64-bit machines do not use"),
        ("SHT_RELA", {"info": 0}, "for a section that does not exist"),
        ("SHT_RELA", {"info": 2**32 - 1}, "for a section that does not exist"),
        ("SHT_RELA", {"entry": 16}, "entries of 16 bytes, not 24"),
        ("SHT_PROGBITS", {"flags": 0x800}, "is compressed"),
    ],
)  # fmt: skip
def test_a_section_that_claims_what_is_not_there_is_refused(
    changed: Changed, kind: str, fields: dict[str, int], why: str
) -> None:
    changed.section(kind, **fields).refused(why)


def test_names_that_do_not_end_or_share_their_bytes_are_bounded(
    changed: Changed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elf, "LONGEST_NAME", 2)
    changed.refused("does not end within 2 bytes")
    monkeypatch.setattr(elf, "LONGEST_NAME", 100)
    monkeypatch.setattr(elf, "MOST_NAMES", 4)
    changed.refused("more than 4 bytes")


@pytest.mark.parametrize(
    ("bound", "why"),
    [("MOST_SYMBOLS", "entries; 1 are read"), ("MOST_RELOCATIONS", "entries; 1 are read"),
     ("MOST_SECTIONS", "1 to 1 are read")],
)  # fmt: skip
def test_more_than_the_bounds_is_refused(
    changed: Changed, monkeypatch: pytest.MonkeyPatch, bound: str, why: str
) -> None:
    monkeypatch.setattr(elf, bound, 1)
    changed.refused(why)


def test_a_symbol_in_a_section_that_is_not_there_is_refused() -> None:
    file = read(CODE)
    index = next(i for i, symbol in enumerate(file.symbols) if symbol.name == "f")
    table = next(section for section in file.sections if section.kind == "SHT_SYMTAB")
    content = bytearray(CODE)
    struct.pack_into("<H", content, table.offset + 24 * index + 6, 0x1234)
    Changed(content).refused("in a section that does not exist")
