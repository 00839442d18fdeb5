from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observatory.store.base.decode import NotJsonError, decoded


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
