"""JSON from strangers as records: read within bounds of memory, refused at the first mistake.

What a parser and its report of mistakes take depends on how many values the content has, not on how
long it is: a value takes up to 250 bytes, and a mistake about 1,800. So the values are counted
before anything is parsed, the keys of one object are counted where they could be many, and a list
ends at its first mistake (`Record`). Each record that arrives as JSON is read by `read_json`.
"""

from __future__ import annotations

import re
from typing import TypeVar, overload

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import from_json

from observatory.store.base.problems import reason_of

MOST_VALUES = 400_000
"""Values and keys of one content: 100 MB in memory if each is as large as it can be."""
LARGEST_JSON = 16 * 2**20
"""Bytes of one content. One character beyond 16 bits makes a text take four times its bytes, and a
parser copies the content: 96 MB. As many values as are read take that many bytes in real files."""
MOST_KEYS = 10_000
"""Keys of one object: each that is not allowed is a mistake, and all are reported."""
DEEPEST = 256
"""Lists and objects inside of one another; a parser refuses more than 200."""
_NO_BRACKET = bytes(sorted(set(range(256)) - set(b'{}[],"')))
_WIDE = re.compile(rb"\{,{%d}" % MOST_KEYS)
_CLOSED = re.compile(rb"\{,*+\}|\[,*+\]")

_Kind = TypeVar("_Kind", bound=BaseModel)
_Type = TypeVar("_Type")


class InvalidError(ValueError):
    """The content is no such record; the message is a sentence without a subject."""


@overload
def read_json(kind: type[_Kind], content: bytes | str) -> _Kind: ...
@overload
def read_json(kind: TypeAdapter[_Type], content: bytes | str) -> _Type: ...
def read_json(kind: type[_Kind] | TypeAdapter[_Type], content: bytes | str) -> _Kind | _Type:
    """The record in a content, whose size the caller has bounded. Raises InvalidError."""
    content = content.encode(errors="surrogatepass") if isinstance(content, str) else content
    check_bounds(content)
    try:
        # Not `validate_json`: each mistake would keep a copy of what it is in.
        found = from_json(content)
    except ValueError as error:
        raise InvalidError(f"it is not JSON: {str(error)[:200]}") from None
    try:
        if isinstance(kind, TypeAdapter):
            return kind.validate_python(found)
        return kind.model_validate(found)
    except ValidationError as error:
        raise InvalidError(reason_of(error)) from None


def check_bounds(content: bytes, most: int = MOST_VALUES) -> None:
    """Raise InvalidError for JSON that holds more than a parser can be given.

    Whatever separates or opens values is counted, also inside of texts; that is fast, and never too
    low.
    """
    # Each takes a byte at least.
    values = 0 if len(content) <= most else values_in(content)
    if values > most:
        raise InvalidError(f"it holds about {values:,} values; at most {most:,} are read")
    if content.count(b":") > MOST_KEYS and _has_wide_object(content):
        raise InvalidError(f"an object in it has more than {MOST_KEYS:,} keys")


def values_in(content: bytes) -> int:
    """How many values and keys JSON holds, about and never too few: what separates or opens one."""
    return sum(map(content.count, (b",", b"[", b"{")))


def _has_wide_object(content: bytes) -> bool:
    """Whether an object has more than MOST_KEYS keys; what is not JSON gets any answer.

    Nothing is left of the content but its brackets and the commas between them, without those in
    texts; then one level after another is taken away, from the innermost to the outermost.
    """
    bare = content.replace(rb"\\", b"").replace(rb"\"", b"").translate(None, _NO_BRACKET)
    most = 1 + sum(map(bare.count, (b",", b"[", b"{")))
    if bare.count(b'"') > 4 * most:  # a key and a text for each: else the parser refuses it
        return False
    frame = b"".join(bare.split(b'"')[::2])
    for _ in range(DEEPEST):
        if _WIDE.search(frame):
            return True
        frame, closed = _CLOSED.subn(b"", frame)
        if not closed:
            break
    return False
