"""Pickles, read without unpickling: nothing is imported, called, or larger than what was read.

A small machine of its own walks the opcodes that numba's pickler writes (protocols 2 to 5) and
builds inert data only: where a pickle asks for an import or a call it puts an ``Opaque`` and goes
on. It does not recurse, shares what a pickle shares and compares nothing, so that neither deep
nesting nor a "billion laughs" costs more than the bytes that ask for it. Content may come from
strangers.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Never, TypeAlias, TypeVar

LARGEST = 64 * 2**20
"""Bytes of a pickle. numba's largest hold an object file and its bitcode: some megabytes."""
MOST_OPCODES = 500_000
"""A data file of the largest functions has some thousands."""
_LONGEST_TEXT = 64 * 2**10
_LONGEST_NAME = 200
_LONGEST_INTEGER = 64
_NEWEST_PROTOCOL = 5


class PickleError(ValueError):
    """The content is no pickle that numba writes; the message says where and why."""


@dataclass(frozen=True, slots=True)
class Opaque:
    """Stands for what is not made: a global, the result of a call, a set, a very long text."""

    what: str


@dataclass(slots=True)
class Mapping:
    """The items of a dict in order. No dict: hashing a stranger's keys may take for ever."""

    items: list[tuple[Inert, Inert]] = field(default_factory=list)


Inert: TypeAlias = (
    "bool | int | float | str | bytes | tuple[Inert, ...] | list[Inert] | Mapping | Opaque | None"
)
_Kind = TypeVar("_Kind")


def load(content: bytes, start: int = 0) -> tuple[Inert, int]:
    """The data of the pickle that begins at byte ``start``, and the byte after its end.

    Raises PickleError for what is broken, cut off, too large, or of an opcode that numba does
    not write.
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
            step = _STEPS.get(opcode)
            if step is None:
                self.refuse(f"numba writes no opcode {opcode!r}")
            step(self)
            self.opcode_at = self.at
            if (opcodes := opcodes + 1) == MOST_OPCODES:
                self.refuse(f"more than {MOST_OPCODES} opcodes are not read")
        return self.pop(), self.at

    def refuse(self, why: str) -> Never:
        raise PickleError(f"it is no pickle of numba's: at byte {self.opcode_at}: {why}")

    def take(self, length: int) -> bytes:
        taken = self.content[self.at : self.at + length]
        if len(taken) < length:
            self.refuse(f"{length} bytes are to come and {len(taken)} are left")
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
        """The topmost value if it is of this kind; None if opaque, as that keeps nothing."""
        value = self.pop()
        self.stack.append(value)
        if isinstance(value, kind):
            return value
        if not isinstance(value, Opaque):
            self.refuse(f"items are added to a {type(value).__name__}")
        return None


def _protocol(machine: _Machine) -> None:
    if (said := machine.take(1)[0]) > _NEWEST_PROTOCOL:
        machine.refuse(f"it is of protocol {said}")


def _frame(machine: _Machine) -> None:
    length = machine.number(_U64)
    if length > len(machine.content) - machine.at:
        machine.refuse(f"a frame of {length} bytes is to come and is not there")


def _mark(machine: _Machine) -> None:
    machine.marks.append(len(machine.stack))


def _constant(value: Inert) -> _Step:
    return lambda machine: machine.stack.append(value)


def _new(kind: Callable[[], Inert]) -> _Step:
    return lambda machine: machine.stack.append(kind())


def _integer(form: struct.Struct) -> _Step:
    return lambda machine: machine.stack.append(machine.number(form))


def _long(form: struct.Struct) -> _Step:
    def step(machine: _Machine) -> None:
        length = machine.number(form)
        if not 0 <= length <= _LONGEST_INTEGER:
            machine.refuse(f"an integer of {length} bytes is to come")
        machine.stack.append(int.from_bytes(machine.take(length), "little", signed=True))

    return step


def _bytes(form: struct.Struct) -> _Step:
    return lambda machine: machine.stack.append(machine.take(machine.number(form)))


def _text(form: struct.Struct) -> _Step:
    def step(machine: _Machine) -> None:
        encoded = machine.take(machine.number(form))
        if len(encoded) > _LONGEST_TEXT:
            machine.stack.append(Opaque("a long text"))
        else:
            machine.stack.append(encoded.decode("utf-8", "backslashreplace"))

    return step


def _tuple(length: int) -> _Step:
    def step(machine: _Machine) -> None:
        items = [machine.pop() for _ in range(length)]
        machine.stack.append(tuple(reversed(items)))

    return step


def _tuple_since_mark(machine: _Machine) -> None:
    machine.stack.append(tuple(machine.since_mark()))


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


def _frozen_set(machine: _Machine) -> None:
    machine.since_mark()
    machine.stack.append(_SET)


def _put(form: struct.Struct) -> _Step:
    def step(machine: _Machine) -> None:
        machine.memo[machine.number(form)] = value = machine.pop()
        machine.stack.append(value)

    return step


def _memoize(machine: _Machine) -> None:
    machine.memo[len(machine.memo)] = value = machine.pop()
    machine.stack.append(value)


def _get(form: struct.Struct) -> _Step:
    def step(machine: _Machine) -> None:
        place = machine.number(form)
        if place not in machine.memo:
            machine.refuse(f"memo {place} was never filled")
        machine.stack.append(machine.memo[place])

    return step


def _global(machine: _Machine) -> None:
    names = []
    for _ in range(2):
        end = machine.content.find(b"\n", machine.at, machine.at + _LONGEST_NAME)
        if end < 0:
            machine.refuse(f"a name does not end within {_LONGEST_NAME} bytes")
        names.append(machine.take(end + 1 - machine.at)[:-1].decode("utf-8", "backslashreplace"))
    machine.stack.append(Opaque(".".join(names)))


def _stack_global(machine: _Machine) -> None:
    name, module = machine.pop(), machine.pop()
    if not isinstance(name, str) or not isinstance(module, str):
        machine.refuse("a global is named by what is no text")
    machine.stack.append(Opaque(f"{module[:_LONGEST_NAME]}.{name[:_LONGEST_NAME]}"))


def _called(arguments: int) -> _Step:
    """A call, which is not made. What is called stands for what it would have returned."""

    def step(machine: _Machine) -> None:
        for _ in range(arguments):
            machine.pop()
        callee = machine.pop()
        if not isinstance(callee, Opaque):
            machine.refuse(f"a {type(callee).__name__} is called")
        machine.stack.append(callee)

    return step


_Step: TypeAlias = "Callable[[_Machine], object]"
_U8, _U16, _U32, _U64, _I32 = (struct.Struct(form) for form in ("<B", "<H", "<I", "<Q", "<i"))
_SET = Opaque("a set")
_STEPS: dict[bytes, _Step] = {
    b"\x80": _protocol, b"\x95": _frame,
    b"(": _mark, b"0": _Machine.pop, b"1": _Machine.since_mark,
    b"N": _constant(None), b"\x88": _constant(True), b"\x89": _constant(False),
    b"K": _integer(_U8), b"M": _integer(_U16), b"J": _integer(_I32),
    b"\x8a": _long(_U8), b"\x8b": _long(_I32), b"G": _integer(struct.Struct(">d")),
    b"C": _bytes(_U8), b"B": _bytes(_U32), b"\x8e": _bytes(_U64), b"\x96": _bytes(_U64),
    b"\x8c": _text(_U8), b"X": _text(_U32), b"\x8d": _text(_U64),
    b")": _constant(()), b"\x85": _tuple(1), b"\x86": _tuple(2), b"\x87": _tuple(3),
    b"t": _tuple_since_mark,
    b"]": _new(list), b"a": _append, b"e": _appends,
    b"}": _new(Mapping), b"s": _set_item, b"u": _set_items,
    b"\x8f": _constant(_SET), b"\x90": _add_items, b"\x91": _frozen_set,
    b"q": _put(_U8), b"r": _put(_U32), b"\x94": _memoize, b"h": _get(_U8), b"j": _get(_U32),
    b"c": _global, b"\x93": _stack_global,
    b"R": _called(1), b"\x81": _called(1), b"\x92": _called(2), b"b": _Machine.pop,
}  # fmt: skip
"""By opcode what becomes of the machine. Left out on purpose: text and persistent ids, which
numba's protocols do not write, extension codes and buffers outside of the file."""
