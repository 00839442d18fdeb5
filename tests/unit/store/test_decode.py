from __future__ import annotations

import json
import math
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observatory.store.base.decode import (
    MOST_TOML,
    NotJsonError,
    NotTomlError,
    decoded,
    decoded_toml,
)


def without_constants(value: Any) -> Any:
    if isinstance(value, list):
        return [without_constants(item) for item in value]
    if isinstance(value, dict):
        return {key: without_constants(item) for key, item in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b'{"a": [1, NaN, -Infinity, Infinity]}', {"a": [1, None, None, None]}),
        (b'{"NaN, Infinity": ["say NaN", NaN]}', {"NaN, Infinity": ["say NaN", None]}),
        (b'["an escaped \\" quote, NaN", NaN]', ['an escaped " quote, NaN', None]),
        (b'["\\" NaN \\" in quotes", NaN]', ['" NaN " in quotes', None]),
        (b'["ends with a backslash \\\\", NaN, "x"]', ["ends with a backslash \\", None, "x"]),
        (b"NaN", None),
    ],
)
def test_constants_are_none_and_texts_are_left_alone(content: bytes, expected: Any) -> None:
    assert decoded(content) == expected


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"NaNa", b"[1, +Infinity]", b"[" * 10_000, b'"\xff"', b'"\\ud800"', b"1" * 5000],
)
def test_what_is_not_json_is_an_error_that_says_so(content: bytes) -> None:
    with pytest.raises(NotJsonError, match="it is not JSON"):
        decoded(content)


_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(_values, st.booleans())
def test_it_reads_what_python_writes(value: Any, ascii_only: bool) -> None:
    content = json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    assert decoded(content) == without_constants(value)


_part = st.from_regex(r"[A-Za-z0-9_-]{1,5}", fullmatch=True) | st.sampled_from(
    ["''", "'.'", "'\"'", '""', '"."', r'"\""', r'"\\"', "'#'", r"'\'"]
)
_key = st.builds(
    lambda parts, dots: "".join(
        map("".join, zip(parts, [*dots[: len(parts) - 1], ""], strict=True))
    ),
    st.integers(1, 40).flatmap(lambda count: st.lists(_part, min_size=count, max_size=count)),
    st.lists(st.sampled_from([".", " .", ".\t", "  . "]), min_size=40, max_size=40),
)
_around = st.sampled_from(
    [("", " = 1"), ("[", "]"), ("[[", "]]"), ("x = {", " = 1}"), ("\t", "=1"),
     ("x = {'\"' = '\"', ", " = 1}"), ("[a] # it's\n", " = 1"), ("x = \"\"\"\n' \"\"\"\n", " = 1")]
)  # fmt: skip


@given(_key, _around)
def test_no_key_of_many_parts_reaches_the_parser(key: str, around: tuple[str, str]) -> None:
    """However it is written; a shorter one is read as the parser reads it."""
    text = key.join(around)
    parts = len(_parts_of(f"{key} = 1"))
    if parts > 20:
        with pytest.raises(NotTomlError, match="has a key of more than 20 parts"):
            decoded_toml(text.encode())
    else:
        try:
            expected = tomllib.loads(text)
        except tomllib.TOMLDecodeError:  # a name twice
            with pytest.raises(NotTomlError):
                decoded_toml(text.encode())
        else:
            assert decoded_toml(text.encode()) == expected


def _parts_of(line: str) -> list[str]:
    level: Any = tomllib.loads(line)
    parts = []
    while isinstance(level, dict):
        ((part, level),) = level.items()
        parts.append(part)
    return parts


def test_a_toml_file_has_at_most_so_many_bytes() -> None:
    assert decoded_toml(b"#" * MOST_TOML) == {}
    with pytest.raises(NotTomlError, match="more than 262144 bytes"):
        decoded_toml(b"#" * (MOST_TOML + 1))
