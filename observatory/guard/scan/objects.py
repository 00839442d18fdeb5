"""The functions in an object file: which it gives to others, and what they are made of."""

from __future__ import annotations

from typing import NamedTuple

from elftools.elf.enums import ENUM_ST_INFO_BIND

from observatory.guard.scan import elf
from observatory.guard.scan.bodies import Bodies
from observatory.guard.scan.elf import ObjectError

_FORMATS = {
    b"\xcf\xfa\xed\xfe": "Mach-O (macOS)",
    b"\xce\xfa\xed\xfe": "Mach-O (macOS)",
    b"\xfe\xed\xfa\xcf": "Mach-O (macOS)",
    b"\xfe\xed\xfa\xce": "Mach-O (macOS)",
    b"\xca\xfe\xba\xbe": "Mach-O (macOS)",
    b"\x64\x86": "COFF (Windows)",
    b"\x64\xaa": "COFF (Windows)",
    b"\x4c\x01": "COFF (Windows)",
    b"\x00\x00\xff\xff": "COFF (Windows)",
}
_ENVIRONMENT = "_ZN08NumbaEnv"
_GLOBAL = ENUM_ST_INFO_BIND["STB_GLOBAL"]


class UnsupportedError(ObjectError):
    """An object file of a system whose files are not read yet."""


class Function(NamedTuple):
    """A function that other object files can call by its symbol."""

    symbol: str
    body: bytes
    """A digest: equal for equal bodies."""
    own: bool
    """Whether the file was made for it: copies of what it calls are weak."""


class ObjectCode(NamedTuple):
    """What an object file gives to others, and what it was made of."""

    functions: list[Function]
    linked: list[str]
    """The symbols of all functions that are in it, also of those that were inlined away."""


def read(content: bytes) -> ObjectCode:
    """The functions of an object file, without local ones.

    Raises UnsupportedError for Mach-O and COFF, ObjectError for what is no object file, is broken
    or is larger than bounds.
    """
    if not content.startswith(b"\x7fELF"):
        for magic, name in _FORMATS.items():
            if content.startswith(magic):
                raise UnsupportedError(f"object files of the format {name} are not supported yet")
        raise ObjectError("the object code is of no known format")
    file = elf.read(content)
    bodies = Bodies(file)
    return ObjectCode(
        [
            Function(symbol.name, bodies.digest(symbol), symbol.bind == _GLOBAL)
            for symbol in file.symbols
            if symbol.is_function and symbol.defined and not symbol.local
        ],
        [
            "_ZN" + symbol.name.removeprefix(_ENVIRONMENT)
            for symbol in file.symbols
            if symbol.name.startswith(_ENVIRONMENT)
        ],
    )
