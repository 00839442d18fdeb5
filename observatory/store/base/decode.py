"""JSON as Python's own tools write it: with NaN and Infinity, which strict parsers refuse.

asv and pytest-benchmark both write them, for what was skipped and for intervals that are open. As
no reader here wants them, they become None. Content may come from strangers.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any

import orjson

from observatory.store.base.strict_json import InvalidError, check_bounds

MOST_TOML = 2**18
"""Bytes of a TOML file that is read: its tables take up to five hundred times as much memory."""
_DEEPEST_KEY = 20
_DEEP_KEY = re.compile(
    rb"""(?<![\w"'\\-])(?:(?:[\w-]++|"(?:[^"\\\n]++|\\[^\n])*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+)"""
    rb"{%d}" % _DEEPEST_KEY
)
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_HALF = re.compile("[\ud800-\udfff]")
_MOST_LENIENT = 8 * 2**20
"""Bytes of a content that is no strict JSON and has characters beyond ASCII. The standard library
holds all of it as text, four bytes a character, beside what it parses; it writes ASCII itself."""


class NotJsonError(ValueError):
    """The content is not JSON, or not text, or too much; the message says where."""


class TooMuchError(NotJsonError):
    """The content is more than can be parsed within bounds of memory."""


class NotTomlError(ValueError):
    """The content is not TOML, or not text, or too much; the message says where."""


def decoded_toml(content: bytes) -> dict[str, Any]:
    """The table in a content. Raises NotTomlError.

    The parser needs a time in the square of the parts of a dotted key, and memory for each. So no
    key may have many, nor a string what looks like one.
    """
    if len(content) > MOST_TOML:
        raise NotTomlError(f"it has more than {MOST_TOML} bytes")
    if deep := _DEEP_KEY.search(content):
        line = content.count(b"\n", 0, deep.start()) + 1
        raise NotTomlError(f"line {line} has a key of more than {_DEEPEST_KEY} parts")
    try:
        return tomllib.loads(content.decode())
    except RecursionError:
        raise NotTomlError("it is nested too deep") from None
    except ValueError as error:  # of TOML, of UTF-8, and of numbers of too many digits
        raise NotTomlError(str(error)[:200]) from error


def decoded(content: bytes) -> Any:
    """The parsed content; NaN and both Infinities are None.

    Raises NotJsonError; TooMuchError for more than can be parsed within bounds of memory.
    """
    try:
        check_bounds(content)
    except InvalidError as error:
        raise TooMuchError(str(error)) from None
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        pass  # the standard library knows NaN, and says best what else is wrong
    if len(content) > _MOST_LENIENT and not content.isascii():
        raise TooMuchError(
            f"it is not strict JSON and has characters beyond ASCII; of such a file, at most "
            f"{_MOST_LENIENT:,} bytes are read"
        )
    try:
        found = json.loads(content, parse_constant=lambda _: None)
    except (ValueError, RecursionError) as error:
        raise NotJsonError(f"it is not JSON: {str(error)[:200]}") from error
    if _SURROGATE.search(content) and any(map(_HALF.search, _texts(found))):
        # Half a pair is legal in JSON and is not text: nothing could print or store it.
        raise NotJsonError("it is not JSON of text: it has half of a surrogate pair")
    return found


def _texts(found: Any) -> Iterator[str]:
    """Every text and key of a parsed content."""
    rest = [found]
    while rest:
        one = rest.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            yield from one
            rest += one.values()
        elif isinstance(one, list):
            rest += one
