"""Reading pickles without unpickling: nothing is imported or called.

A small machine runs the opcodes that numba's pickler writes (protocols 2 to 5) and builds inert
data only: in place of an import or the result of a call it puts an ``Opaque``. It does not recurse,
shares what a pickle shares and compares nothing, so neither deep nesting nor a "billion laughs"
costs more than the bytes that ask for it. The content may be hostile.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Never, TypeAlias, TypeVar

LARGEST = 64 * 2**20
"""Bytes of a pickle. numba's largest contain an object file and its bitcode: a few megabytes."""
MOST_OPCODES = 500_000
"""The data files of the largest functions have some thousands."""
_LONGEST_TEXT = 64 * 2**10
_LONGEST_NAME = 200
_LONGEST_INTEGER = 64
_NEWEST_PROTOCOL = 5


class PickleError(ValueError):
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
    return _Machine(content, start).run()


class _Machine:
    """The stack, the marks and the memo of one pickle."""

    def __init__(self, content: bytes, start: int) -> None:
        self.content = content
        self.at = self.opcode_at = start
        self.stack: list[Inert] = []
        self.marks: list[int] = []
        self.memo: dict[int, Inert] = {}

    def run(self) -> tuple[Inert, int]:
        opcodes = 0
        while (opcode := self.take(1)) != b".":
            if (value := _VALUES.get(opcode)) is not None:
                self.stack.append(value(self))
            elif (step := _STEPS.get(opcode)) is not None:
                step(self)
            else:
                self.refuse(f"numba writes no opcode {opcode!r}")
            self.opcode_at = self.at
            if (opcodes := opcodes + 1) == MOST_OPCODES:
                self.refuse(f"more than {MOST_OPCODES} opcodes are not read")
        return self.pop(), self.at

    def refuse(self, why: str) -> Never:
        raise PickleError(f"it is not a pickle of numba's: at byte {self.opcode_at}: {why}")

    def take(self, length: int) -> bytes:
        taken = self.content[self.at : self.at + length]
        if len(taken) < length:
            self.refuse(f"{length} bytes are expected and {len(taken)} are left")
        self.at += length
        return taken

    def number(self, form: struct.Struct) -> int:
        found: int = form.unpack(self.take(form.size))[0]
        return found

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


_Value: TypeAlias = Callable[[_Machine], Inert]
_Step: TypeAlias = Callable[[_Machine], object]


def _protocol(machine: _Machine) -> None:
    if (protocol := machine.take(1)[0]) > _NEWEST_PROTOCOL:
        machine.refuse(f"it is of protocol {protocol}")


def _frame(machine: _Machine) -> None:
    length = machine.number(_U64)
    if length > len(machine.content) - machine.at:
        machine.refuse(f"a frame of {length} bytes is longer than the file")


def _constant(value: Inert) -> _Value:
    return lambda _: value


def _number(form: struct.Struct) -> _Value:
    return lambda machine: machine.number(form)


def _long(form: struct.Struct) -> _Value:
    def value(machine: _Machine) -> int:
        length = machine.number(form)
        if not 0 <= length <= _LONGEST_INTEGER:
            machine.refuse(f"an integer of {length} bytes is not read")
        return int.from_bytes(machine.take(length), "little", signed=True)

    return value


def _bytes(form: struct.Struct) -> _Value:
    return lambda machine: machine.take(machine.number(form))


def _text(form: struct.Struct) -> _Value:
    def value(machine: _Machine) -> str | Opaque:
        encoded = machine.take(machine.number(form))
        if len(encoded) > _LONGEST_TEXT:
            return Opaque("a long text")
        return encoded.decode("utf-8", "backslashreplace")

    return value


def _tuple(length: int) -> _Value:
    return lambda machine: tuple(reversed([machine.pop() for _ in range(length)]))


def _append(machine: _Machine) -> None:
    value = machine.pop()
    if (items := machine.top(list)) is not None:
        items.append(value)


def _appends(machine: _Machine) -> None:
    values = machine.since_mark()
    if (items := machine.top(list)) is not None:
        items += values


def _set_item(machine: _Machine) -> None:
    value, key = machine.pop(), machine.pop()
    if (mapping := machine.top(Mapping)) is not None:
        mapping.items.append((key, value))


def _set_items(machine: _Machine) -> None:
    values = machine.since_mark()
    if len(values) % 2:
        machine.refuse("a key has no value")
    if (mapping := machine.top(Mapping)) is not None:
        mapping.items += zip(values[::2], values[1::2], strict=True)


def _add_items(machine: _Machine) -> None:
    machine.since_mark()
    machine.top(Opaque)


def _frozen_set(machine: _Machine) -> Opaque:
    machine.since_mark()
    return _SET


def _put(place: Callable[[_Machine], int]) -> _Step:
    def step(machine: _Machine) -> None:
        machine.memo[place(machine)] = value = machine.pop()
        machine.stack.append(value)

    return step


def _get(form: struct.Struct) -> _Value:
    def value(machine: _Machine) -> Inert:
        place = machine.number(form)
        if place not in machine.memo:
            machine.refuse(f"memo {place} was never filled")
        return machine.memo[place]

    return value


def _global(machine: _Machine) -> Opaque:
    names = []
    for _ in range(2):
        end = machine.content.find(b"\n", machine.at, machine.at + _LONGEST_NAME)
        if end < 0:
            machine.refuse(f"a name does not end within {_LONGEST_NAME} bytes")
        names.append(machine.take(end + 1 - machine.at)[:-1].decode("utf-8", "backslashreplace"))
    return Opaque(".".join(names))


def _stack_global(machine: _Machine) -> Opaque:
    name, module = machine.pop(), machine.pop()
    if not isinstance(name, str) or not isinstance(module, str):
        machine.refuse("the name of a global is not text")
    return Opaque(f"{module[:_LONGEST_NAME]}.{name[:_LONGEST_NAME]}")


def _called(arguments: int) -> _Value:
    """A call, which is not made: the callee stands for what it would return."""

    def value(machine: _Machine) -> Opaque:
        for _ in range(arguments):
            machine.pop()
        callee = machine.pop()
        if not isinstance(callee, Opaque):
            machine.refuse(f"a {type(callee).__name__} is called")
        return callee

    return value


_U8, _U16, _U32, _U64, _I32 = (struct.Struct(form) for form in ("<B", "<H", "<I", "<Q", "<i"))
_VALUES: dict[bytes, _Value] = {
    b"N": _constant(None), b"\x88": _constant(True), b"\x89": _constant(False),
    b"K": _number(_U8), b"M": _number(_U16), b"J": _number(_I32),
    b"\x8a": _long(_U8), b"\x8b": _long(_I32), b"G": _number(struct.Struct(">d")),
    b"C": _bytes(_U8), b"B": _bytes(_U32), b"\x8e": _bytes(_U64), b"\x96": _bytes(_U64),
    b"\x8c": _text(_U8), b"X": _text(_U32), b"\x8d": _text(_U64),
    b")": _constant(()), b"\x85": _tuple(1), b"\x86": _tuple(2), b"\x87": _tuple(3),
    b"t": lambda machine: tuple(machine.since_mark()),
    b"]": lambda _: [], b"}": lambda _: Mapping(),
    b"\x8f": _constant(_SET), b"\x91": _frozen_set,
    b"h": _get(_U8), b"j": _get(_U32), b"c": _global, b"\x93": _stack_global,
    b"R": _called(1), b"\x81": _called(1), b"\x92": _called(2),
}  # fmt: skip
"""The opcodes that push a value."""
_STEPS: dict[bytes, _Step] = {
    b"\x80": _protocol, b"\x95": _frame,
    b"(": lambda machine: machine.marks.append(len(machine.stack)),
    b"0": _Machine.pop, b"1": _Machine.since_mark, b"b": _Machine.pop,
    b"a": _append, b"e": _appends, b"s": _set_item, b"u": _set_items, b"\x90": _add_items,
    b"q": _put(lambda machine: machine.number(_U8)),
    b"r": _put(lambda machine: machine.number(_U32)),
    b"\x94": _put(lambda machine: len(machine.memo)),
}  # fmt: skip
"""The other opcodes. Text and persistent ids, which numba's protocols do not write, extension codes
and buffers outside of the file are missing on purpose."""
