"""Contents as strangers could write them: good ones, changed in their values, bytes and sizes."""

from __future__ import annotations

import json
import struct
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from random import Random
from typing import Any

ORDERS = "\n::set-env name=PATH::x\r\n  ::add-mask::a\n##[error]b\x1b[2K\x07\u202e\u2028"
VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 2**31, 2**63, 2**64, 10**400, -(10**400), 1e308, -1e-320, float("nan"),
    float("inf"), "", " ", "NaN", ORDERS, "::error::x", "##[group]", "<script>alert(1)</script>",
    "$(touch executed)", "`touch executed`", "'; touch executed; '", "../../../etc/passwd",
    "/etc/passwd", "a" * 5000, "\ud800", "\x00", "\U0001f600" * 50, "é" * 300, "%s%n{0}",
    "{x.__class__}", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00",
    "1969-12-31T23:59:59Z", "2026-01-01T00:00:00", "2026-01-01T00:00:00+23:59", [], {}, [[]],
    [None], {"": {}}, {ORDERS: ORDERS}, "T" * 64, "0" * 40, "observatory/sample/2",
    "20261120T143000Z-quick-x0a1b2c", "pytensor @ file:///x",
)  # fmt: skip
BOMB = b"cposix\nsystem\n(X" + struct.pack("<I", 14) + b"touch executedtR"
"""A pickle that leaves a file behind if it is ever loaded."""
TOKENS = (
    b"NaN", b"1e999", b"9" * 400, b'"\\ud800"', b"null", b"{}", b"[]", b'"', b"\\", b"\xff", b"\0",
    b",", b":", b"\n", b"\r", b"{", b"}", b"[", b"]", b"\n::error::x\n", b"##[error]", b"\x1b[2J",
    b"=", b"'", b"[[", b"]]", BOMB, b"cbuiltins\neval\n", b"\x80\x04", b"\x95" + b"\xff" * 8,
    b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b\x08", b"\x7fELF", b"B\xff\xff\xff\xff",
    b"X\xff\xff\xff\x7f", b"\xff" * 8,
)  # fmt: skip
NUMBERS = (0, 1, 0x7F, 0xFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFE, 0xFFFFFFFF, 2**63 - 1, 2**64 - 1)
_PLACES = 100_000
LARGEST = 17 * 2**20


def mutated(seeds: Sequence[bytes], dice: Random) -> bytes:
    """One of the seeds after a few changes; about one in fifty becomes as large as may be read."""
    content = dice.choice(seeds)
    if dice.random() < 0.6:
        content = _with_values(content, dice)
    for _ in range(dice.choice((0, 0, 1, 1, 2, 5))):
        content = _with_bytes(content, dice)
    return _flooded(content, dice) if dice.random() < 0.02 else content


def _with_values(content: bytes, dice: Random) -> bytes:
    """JSON, or each line of it, with other values, keys and lists; what is no JSON stays."""
    lines = content.splitlines() if content.count(b"\n{") else [content]
    at = dice.randrange(len(lines))
    # Neither the content nor what becomes of it has to be JSON that Python's own parser takes.
    with suppress(ValueError, RecursionError, MemoryError):
        tree = json.loads(lines[at])
        for _ in range(dice.randint(1, 4)):
            if _change(tree, dice):
                break  # what is repeated in what was repeated would be half a gigabyte
        text = json.dumps(tree, ensure_ascii=dice.random() < 0.7)
        lines[at] = text.encode("utf-8", "surrogatepass")
    return b"\n".join(lines)


def _change(tree: Any, dice: Random) -> bool:
    """Change one place; whether a part was repeated."""
    places = _places(tree)
    if not places:
        return False
    container, key = dice.choice(places)
    kind = dice.choice(("replace", "replace", "replace", "remove", "repeat", "move", "key"))
    if kind == "replace":
        container[key] = dice.choice(VALUES)
    elif kind == "remove":
        del container[key]
    elif kind == "repeat" and isinstance(container, list):
        size = len(json.dumps(container[key])) + 1
        container[key:key] = [container[key]] * min(dice.choice((1, 10, 2000)), LARGEST // size)
        return True
    elif kind == "key" and isinstance(container, dict):
        container[str(dice.choice(VALUES))[:300]] = container.pop(key)
    else:
        other, place = dice.choice(places)
        container[key] = json.loads(json.dumps(other[place]))
    return False


def _keys(container: Any) -> Any:
    return container if isinstance(container, dict) else range(len(container))


def _places(tree: Any) -> list[tuple[Any, Any]]:
    """Containers and keys, outer ones first; of a tree that was repeated often, not all."""
    found: list[tuple[Any, Any]] = []
    waiting = deque([tree])
    while waiting and len(found) < _PLACES:
        one = waiting.popleft()
        if isinstance(one, dict | list):
            found += ((one, key) for key in _keys(one))
            waiting += one.values() if isinstance(one, dict) else one
    return found


def _with_bytes(content: bytes, dice: Random) -> bytes:
    at, kind = (
        dice.randint(0, len(content)),
        dice.choice(("token", "number", "cut", "flip", "move")),
    )
    end = min(len(content), at + dice.choice((0, 0, 1, 2, 10, 1000)))
    if kind == "token":
        return content[:at] + dice.choice(TOKENS) + content[end:]
    if kind == "number":
        size, form = dice.choice(((2, "<H"), (4, "<I"), (8, "<Q"), (4, ">I")))
        number = dice.choice(NUMBERS) % 2 ** (8 * size)
        return content[:at] + struct.pack(form, number) + content[at + size :]
    if kind == "cut":
        return content[:at] if dice.random() < 0.5 else content[:at] + content[end:]
    if kind == "flip" and at < len(content):
        return content[:at] + bytes((content[at] ^ 1 << dice.randrange(8),)) + content[at + 1 :]
    return content[:at] + content[end:] + content[at:end]


def _flooded(content: bytes, dice: Random) -> bytes:
    """A part of the content, or one small thing, as often as there is room for."""
    at = dice.randint(0, len(content))
    small = (b"{},", b"[],", b"[", b'"a":0,', b"0,", b'"', b"\\u4e2d", b"x", b"(", b'{"":', BOMB)
    part = dice.choice((content[at : at + dice.choice((2, 20, 500))], *small))
    times = dice.choice((10_000, 1_000_000, LARGEST)) // max(1, len(part))
    if part == b'"a":0,':
        part, times = b"", 0
        flood = b"".join(b'"%x":0,' % number for number in range(300_000))
    else:
        flood = part * times
    return (content[:at] + flood + content[at:])[:LARGEST]
