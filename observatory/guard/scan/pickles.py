"""Reading pickles without unpickling: nothing is imported or called.

``pickletools`` decodes the opcodes. A small machine runs those that numba's pickler writes
(protocols 2 to 5) and builds inert data only: in place of an import or the result of a call it puts
an ``Opaque``. It does not recurse, shares what a pickle shares and compares nothing, so neither
deep nesting nor a "billion laughs" costs more than the bytes that ask for it. The content may be
hostile.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from io import BytesIO
from pickletools import genops
from typing import Any, Never, TypeAlias, TypeVar

LARGEST = 64 * 2**20
"""Bytes of a pickle. numba's largest contain an object file and its bitcode: a few megabytes."""
MOST_OPCODES = 500_000
"""The data files of the largest functions have some thousands."""
_LONGEST_TEXT = 64 * 2**10
_LONGEST_NAME = 200
_LONGEST_INTEGER = 64
_NEWEST_PROTOCOL = 5


class CacheFileError(ValueError):
    """A file of a cache is not one that numba writes; the message says why."""


class PickleError(CacheFileError):
    """The content is not a pickle as numba writes it; the message says where and why."""


@dataclass(frozen=True, slots=True)
class Opaque:
    """Stands for what is not built: a global, the result of a call, a set, a very long text."""

    what: str


@dataclass(slots=True)
class Mapping:
    """The items of a dict in order. They are not hashed, as hostile keys may take forever."""

    items: list[tuple[Inert, Inert]] = field(default_factory=list)


Inert: TypeAlias = (
    "bool | int | float | str | bytes | tuple[Inert, ...] | list[Inert] | Mapping | Opaque | None"
)
_Kind = TypeVar("_Kind")
_SET = Opaque("a set")


def load(content: bytes, start: int = 0) -> tuple[Inert, int]:
    """Return the data of the pickle that begins at byte ``start``, and the position after it.

    Raises PickleError if the pickle is broken, truncated or too large, or has an opcode that numba
    does not write.
    """
    if len(content) > LARGEST:
        raise PickleError(f"it has {len(content)} bytes; more than {LARGEST} are not read")
    machine, stream = _Machine(start), BytesIO(content)
    stream.seek(start)
    try:
        for number, (opcode, argument, at) in enumerate(genops(stream)):
            machine.at = at or 0
            if number == MOST_OPCODES:
                machine.refuse(f"more than {MOST_OPCODES} opcodes are not read")
            if (value := _VALUES.get(opcode.name)) is not None:
                machine.stack.append(value(machine, argument))
            elif (step := _STEPS.get(opcode.name)) is not None:
                step(machine, argument)
            elif opcode.name == "FRAME" and argument is not None:
                if argument > len(content) - stream.tell():
                    machine.refuse(f"a frame of {argument} bytes is longer than the file")
            elif opcode.name != "STOP":
                machine.refuse(f"numba writes no opcode {opcode.code.encode('latin-1')!r}")
    except PickleError:
        raise
    except ValueError as error:
        machine.refuse(str(error))
    return machine.pop(), stream.tell()


class _Machine:
    """The stack, the marks and the memo of one pickle, and the position of its last opcode."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.stack: list[Inert] = []
        self.marks: list[int] = []
        self.memo: dict[int, Inert] = {}

    def refuse(self, why: str) -> Never:
        raise PickleError(f"it is not a pickle of numba's: at byte {self.at}: {why}")

    def pop(self) -> Inert:
        if len(self.stack) <= (self.marks[-1] if self.marks else 0):
            self.refuse("something is taken from an empty stack")
        return self.stack.pop()

    def since_mark(self) -> list[Inert]:
        if not self.marks:
            self.refuse("a mark is missing")
        mark = self.marks.pop()
        found = self.stack[mark:]
        del self.stack[mark:]
        return found

    def top(self, kind: type[_Kind]) -> _Kind | None:
        """Return the top of the stack if it is of this kind; None if it is opaque."""
        value = self.pop()
        self.stack.append(value)
        if isinstance(value, kind):
            return value
        if not isinstance(value, Opaque):
            self.refuse(f"items are added to a {type(value).__name__}")
        return None


_Value: TypeAlias = Callable[[_Machine, Any], Inert]
_Step: TypeAlias = Callable[[_Machine, Any], object]


def _protocol(machine: _Machine, protocol: int) -> None:
    if protocol > _NEWEST_PROTOCOL:
        machine.refuse(f"it is of protocol {protocol}")


def _constant(value: Inert) -> _Value:
    return lambda *_: value


def _number(_: _Machine, number: float) -> float:
    return number


def _bytes(_: _Machine, content: bytes | bytearray) -> bytes:
    return bytes(content)


def _integer(machine: _Machine, argument: int) -> int:
    if argument.bit_length() > 8 * _LONGEST_INTEGER:
        machine.refuse(f"an integer of more than {_LONGEST_INTEGER} bytes is not read")
    return argument


def _text(_: _Machine, text: str) -> str | Opaque:
    # pickletools lets surrogates pass, which cannot be written anywhere.
    encoded = text.encode("utf-8", "backslashreplace")
    return Opaque("a long text") if len(encoded) > _LONGEST_TEXT else encoded.decode()


def _tuple(length: int) -> _Value:
    return lambda machine, _: tuple(reversed([machine.pop() for _ in range(length)]))


def _append(machine: _Machine, values: list[Inert]) -> None:
    if (items := machine.top(list)) is not None:
        items += values


def _set_items(machine: _Machine, values: list[Inert]) -> None:
    if len(values) % 2:
        machine.refuse("a key has no value")
    if (mapping := machine.top(Mapping)) is not None:
        mapping.items += zip(values[::2], values[1::2], strict=True)


def _set_item(machine: _Machine, _: None) -> None:
    value, key = machine.pop(), machine.pop()
    _set_items(machine, [key, value])


def _add_items(machine: _Machine, _: None) -> None:
    machine.since_mark()
    machine.top(Opaque)


def _frozen_set(machine: _Machine, _: None) -> Opaque:
    machine.since_mark()
    return _SET


def _put(machine: _Machine, place: int | None) -> None:
    value = machine.pop()
    machine.memo[len(machine.memo) if place is None else place] = value
    machine.stack.append(value)


def _get(machine: _Machine, place: int) -> Inert:
    if place not in machine.memo:
        machine.refuse(f"memo {place} was never filled")
    return machine.memo[place]


def _stack_global(machine: _Machine, _: None) -> Opaque:
    name, module = machine.pop(), machine.pop()
    if not isinstance(name, str) or not isinstance(module, str):
        machine.refuse("the name of a global is not text")
    return Opaque(f"{module[:_LONGEST_NAME]}.{name[:_LONGEST_NAME]}")


def _called(arguments: int) -> _Value:
    """A call, which is not made: the callee stands for what it would return."""

    def value(machine: _Machine, _: None) -> Opaque:
        callee = [machine.pop() for _ in range(arguments + 1)][-1]
        if not isinstance(callee, Opaque):
            machine.refuse(f"a {type(callee).__name__} is called")
        return callee

    return value


_VALUES: dict[str, _Value] = {
    "NONE": _constant(None), "NEWTRUE": _constant(True), "NEWFALSE": _constant(False),
    **dict.fromkeys(("BININT1", "BININT2", "BININT", "BINFLOAT"), _number),
    **dict.fromkeys(("SHORT_BINBYTES", "BINBYTES", "BINBYTES8", "BYTEARRAY8"), _bytes),
    **dict.fromkeys(("LONG1", "LONG4"), _integer),
    **dict.fromkeys(("SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"), _text),
    "EMPTY_TUPLE": _constant(()), "TUPLE1": _tuple(1), "TUPLE2": _tuple(2), "TUPLE3": _tuple(3),
    "TUPLE": lambda machine, _: tuple(machine.since_mark()),
    "EMPTY_LIST": lambda *_: [], "EMPTY_DICT": lambda *_: Mapping(),
    "EMPTY_SET": _constant(_SET), "FROZENSET": _frozen_set, "BINGET": _get, "LONG_BINGET": _get,
    "GLOBAL": lambda _, name: Opaque(name.replace(" ", ".", 1)[:_LONGEST_NAME]),
    "STACK_GLOBAL": _stack_global,
    "REDUCE": _called(1), "NEWOBJ": _called(1), "NEWOBJ_EX": _called(2),
}  # fmt: skip
"""The opcodes that push a value."""
_STEPS: dict[str, _Step] = {
    "PROTO": _protocol,
    "MARK": lambda machine, _: machine.marks.append(len(machine.stack)),
    "POP": lambda machine, _: machine.pop(), "POP_MARK": lambda machine, _: machine.since_mark(),
    "BUILD": lambda machine, _: machine.pop(),
    "APPEND": lambda machine, _: _append(machine, [machine.pop()]),
    "APPENDS": lambda machine, _: _append(machine, machine.since_mark()),
    "SETITEM": _set_item, "ADDITEMS": _add_items,
    "SETITEMS": lambda machine, _: _set_items(machine, machine.since_mark()),
    "BINPUT": _put, "LONG_BINPUT": _put, "MEMOIZE": _put,
}  # fmt: skip
"""The other opcodes. Text and persistent ids, which numba's protocols do not write, extension codes
and buffers outside of the file are missing on purpose."""
