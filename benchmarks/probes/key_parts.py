"""Probe on keys: what the keys of functions are made of, before anything is compiled.

A key of numba's cache is a hash that PyTensor makes of texts, and of other hashes in them. While a
graph is converted, every `sha256` of PyTensor notes what it hashes, so that a key is taken apart by
looking its hashes up: the parts are those that the key was made of. A key of the C backends is a
tuple, which is its own parts.
"""

from __future__ import annotations

import hashlib
import pickletools
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..messages import KEY_CACHES, OUTER_GRAPH, KeyedFunction, KeyPart
from . import numba_keys

_DIGEST = re.compile(r"([0-9a-f]{64})")
_NAME = re.compile(r"""^(['"])(\w+)\1$""")
_LONGEST = 500
_DEEPEST = 40
_MOST = 20_000
"""Parts of one function."""
_CLOSING = {"(": ")", "[": "]", "{": "}"}


def problem(kind: str) -> str | None:
    """Return why this PyTensor has no keys of a kind of cache, as a sentence; None if it has."""
    if kind not in KEY_CACHES:
        return f"the keys of the cache {kind!r} cannot be taken apart"
    return numba_keys.problem() if kind == "numba" else None


class OnlyLookedAtError(NotImplementedError):
    """Ends what compiles a whole graph in C, of which only the key is wanted.

    PyTensor takes it for an Op without code in C.
    """


@contextmanager
def taking_apart(kind: str) -> Iterator[list[KeyedFunction]]:
    """Note every function that a graph asks a cache for in the block, with the parts of its key.

    ``kind``: `numba` or `c_module`. The modules of C are not compiled: PyTensor is told that an Op
    has no code in C, and falls back on its Python. What compiles a whole graph in C raises
    OnlyLookedAtError.
    """
    found: list[KeyedFunction] = []
    with _of_numba(found) if kind == "numba" else _of_c(found):
        yield found


@contextmanager
def _of_numba(found: list[KeyedFunction]) -> Iterator[None]:
    hashed: dict[str, bytes] = {}

    def note(op: Any, node: Any, function: Any, key: str | None, outer: bool) -> None:
        name = OUTER_GRAPH if outer else str(op)
        if key is None:
            found.append(KeyedFunction(name, "", ()))
            return
        stored, types = numba_keys.asked(op, node, function, key)
        parts = Parts(hashed)
        inputs = KeyPart("types of the inputs", "", tuple(map(parts.of_value, types)))
        own = KeyPart("key of PyTensor", stored, parts.of_text(stored))
        found.append(KeyedFunction(name, stored, (own, inputs, _target())))

    with _noting(hashed), numba_keys.watching(note):
        yield


def _target() -> KeyPart:
    """What numba adds to every key: its version, and the CPU that the machine code is for."""
    import numba
    from numba.core.registry import cpu_target

    names = ("triple", "CPU", "features")
    magic = map(str, cpu_target.target_context.codegen().magic_tuple())
    made = [KeyPart(name, shorten(value), ()) for name, value in zip(names, magic, strict=False)]
    return KeyPart("numba", "", (KeyPart("version", numba.__version__, ()), *made))


@contextmanager
def _of_c(found: list[KeyedFunction]) -> Iterator[None]:
    from pytensor.link.c.cmodule import ModuleCache

    from .c_modules import name_of

    original = ModuleCache.module_from_key

    def module_from_key(_: Any, key: Any, lnk: Any) -> Any:
        versions, contents = key
        parts = Parts({})
        found.append(
            KeyedFunction(
                name_of(lnk),
                hashlib.sha256(repr(key).encode()).hexdigest(),
                (
                    KeyPart("versions", "", parts.of_value(versions).parts),
                    KeyPart("contents", "", parts.of_value(contents).parts),
                ),
            )
        )
        raise OnlyLookedAtError

    ModuleCache.module_from_key = module_from_key
    try:
        yield
    finally:
        ModuleCache.module_from_key = original


class _Noted:
    """A `sha256` that keeps what it hashes."""

    def __init__(self, make: Callable[[bytes], Any], hashed: dict[str, bytes], data: bytes) -> None:
        self._hash, self._hashed, self._data = make(data), hashed, [data]

    def update(self, data: bytes) -> None:
        self._hash.update(data)
        self._data.append(bytes(data))

    def hexdigest(self) -> str:
        digest: str = self._hash.hexdigest()
        self._hashed[digest] = b"".join(self._data)
        return digest

    def digest(self) -> bytes:
        return bytes.fromhex(self.hexdigest())


@contextmanager
def _noting(hashed: dict[str, bytes]) -> Iterator[None]:
    """Keep, by its hash, what PyTensor hashes in the block."""
    original = hashlib.sha256

    def sha256(data: bytes = b"", **_: Any) -> _Noted:
        return _Noted(original, hashed, bytes(data))

    places = [(vars(hashlib), "sha256")]
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "pytensor":
            own = vars(module)
            places += [(own, key) for key, value in list(own.items()) if value is original]
    for names, key in places:
        names[key] = sha256
    try:
        yield
    finally:
        for names, key in places:
            names[key] = original


class Parts:
    """Takes keys apart. ``hashed``: what was hashed, by its hash in hexadecimal."""

    def __init__(self, hashed: dict[str, bytes]) -> None:
        self._hashed = hashed
        self._left = _MOST

    def of_text(self, text: str, depth: int = 0) -> tuple[KeyPart, ...]:
        """The parts of a text: of a sequence its items, and of a hash what was hashed."""
        if depth > _DEEPEST or self._left <= 0:
            return ()
        items = split(text)
        if items is not None:
            return tuple(self._item(item, depth + 1) for item in items)
        found: list[KeyPart] = []
        pieces = _DIGEST.split(text)
        if not any(piece in self._hashed for piece in pieces):
            return ()
        if len(pieces) == 3 and not (pieces[0] or pieces[2]):
            return self._of_bytes(self._hashed[text], depth + 1)
        for piece in filter(None, pieces):
            self._left -= 1
            content = self._hashed.get(piece)
            parts = () if content is None else self._of_bytes(content, depth + 1)
            found.append(KeyPart("", shorten(piece), parts))
        return tuple(found)

    def of_value(self, value: Any, depth: int = 0) -> KeyPart:
        """A value as a part: of a tuple, a list or a set its items are the parts."""
        self._left -= 1
        if isinstance(value, frozenset | set):
            value = sorted(value, key=repr)
        if not isinstance(value, tuple | list) or depth > _DEEPEST or self._left <= 0:
            return KeyPart("", shorten(str(value)), ())
        named = len(value) == 2 and isinstance(value[0], str) and value[0].isidentifier()
        if named:
            inner = self.of_value(value[1], depth + 1)
            return KeyPart(value[0], inner.value, inner.parts)
        return KeyPart("", "", tuple(self.of_value(one, depth + 1) for one in value))

    def _item(self, text: str, depth: int) -> KeyPart:
        self._left -= 1
        pair = split(text)
        if pair is not None and len(pair) == 2 and (name := _NAME.match(pair[0])):
            return KeyPart(name[2], shorten(pair[1]), self.of_text(pair[1], depth))
        return KeyPart("", shorten(text), self.of_text(text, depth))

    def _of_bytes(self, content: bytes, depth: int) -> tuple[KeyPart, ...]:
        if content[:1] == b"\x80":
            return tuple(self._of_pickle(content))
        try:
            text = content.decode()
        except UnicodeDecodeError:
            text = "\0"
        if not all(letter.isprintable() or letter in "\n\t" for letter in text):
            return (KeyPart("", shorten(f"{len(content)} bytes: {content.hex()}"), ()),)
        return self.of_text(text, depth) or (KeyPart("", shorten(text), ()),)

    def _of_pickle(self, content: bytes) -> Iterator[KeyPart]:
        """What a pickle writes, one instruction after the other. Nothing is loaded."""
        try:
            for code, argument, _ in pickletools.genops(content):
                if self._left > 0 and code.name not in ("FRAME", "MEMOIZE"):
                    self._left -= 1
                    said = code.name if argument is None else f"{code.name} {argument!r}"
                    yield KeyPart("", shorten(said), ())
        except ValueError:
            yield KeyPart("", shorten(f"{len(content)} bytes: {content.hex()}"), ())


def split(text: str) -> list[str] | None:
    """The items of a sequence that is written in brackets; None: the text is none.

    >>> split("(<class 'a'>, ('b', (1, 2)), 'x, y')")
    ["<class 'a'>", "('b', (1, 2))", "'x, y'"]
    """
    if text[:1] not in _CLOSING or text[-1:] != _CLOSING[text[0]]:
        return None
    open_: list[str] = []
    items: list[str] = []
    quote, begin, skip = "", 1, False
    for place, letter in enumerate(text):
        if skip:
            skip = False
        elif quote:
            skip = letter == "\\"
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter in _CLOSING:
            open_.append(_CLOSING[letter])
        elif open_ and letter == open_[-1]:
            open_.pop()
            if not open_ and place < len(text) - 1:
                return None  # "(a)(b)" is no sequence
        elif letter == "," and len(open_) == 1:
            items.append(text[begin:place].strip())
            begin = place + 1
    if open_ or quote:
        return None
    items.append(text[begin:-1].strip())
    return [item for item in items if item]


def shorten(text: str) -> str:
    """A text of bounded length; different texts stay different."""
    if len(text) <= _LONGEST:
        return text
    digest = hashlib.sha256(text.encode(errors="replace")).hexdigest()[:8]
    return f"{text[:_LONGEST]}… #{digest}"
