"""Keys are taken apart: into what was hashed, and into the items of sequences."""

from __future__ import annotations

import hashlib
import pickle
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from observatory.benchmarks.messages import KeyPart
from observatory.benchmarks.probes.key_parts import Parts, problem, shorten, split

PLAIN = st.integers() | st.text(max_size=8) | st.binary(max_size=4) | st.none() | st.floats()
NESTED = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=4).map(tuple))


def named(text: str, *inner: str) -> tuple[str, dict[str, bytes]]:
    """The hash of a text, and what was hashed for it."""
    contents = [text.encode(), *(one.encode() for one in inner)]
    hashed = {hashlib.sha256(one).hexdigest(): one for one in contents}
    return hashlib.sha256(text.encode()).hexdigest(), hashed


def words(parts: tuple[KeyPart, ...]) -> Any:
    return [(one.name, one.value, words(one.parts)) if one.parts else one.value for one in parts]


@given(st.lists(NESTED, min_size=2, max_size=5).map(tuple))
def test_a_sequence_is_split_where_python_puts_its_commas(items: tuple[object, ...]) -> None:
    assert split(repr(items)) == [repr(one) for one in items]
    assert split(repr(list(items))) == [repr(one) for one in items]


def test_quotes_and_commas_within_a_text_split_nothing() -> None:
    items = ('it\'s "one", not two', "a\\", "(", 3)
    assert split(repr(items)) == [repr(one) for one in items]


@given(st.text(max_size=30))
def test_any_text_is_taken_apart_without_an_error(text: str) -> None:
    Parts({}).of_text(text)
    split(text)


def test_a_text_that_is_no_sequence_is_not_split() -> None:
    for text in ("", "abc", "(a)(b)", "(a", "('a)", "[a)"):
        assert split(text) is None


def test_a_hash_is_taken_apart_into_what_was_hashed() -> None:
    key, hashed = named("(<class 'Sum'>, ('axis', 0))")
    (part,) = Parts(hashed).of_text(f"{key}_fastmath1")[:1]
    assert [one.value for one in part.parts] == ["<class 'Sum'>", "0"]
    assert part.parts[1].name == "axis"


def test_a_hash_within_what_was_hashed_is_taken_apart_as_well() -> None:
    inner, _ = named("('axis', 1)")
    key, hashed = named(f"('Sum', '{inner}')", "('axis', 1)")
    assert "axis" in str(Parts(hashed).of_text(key))


def test_what_follows_a_hash_is_a_part() -> None:
    key, hashed = named("(1, 2)")
    assert [one.value for one in Parts(hashed).of_text(f"{key}_fastmath1")] == [key, "_fastmath1"]


def test_a_pickle_is_read_and_not_loaded() -> None:
    content = pickle.dumps(print, protocol=2)
    key = hashlib.sha256(content).hexdigest()
    said = [one.value for one in Parts({key: content}).of_text(key)]
    assert any("print" in one for one in said), said


def test_bytes_that_are_no_text_are_shown_in_hexadecimal() -> None:
    key = hashlib.sha256(b"\xff\x00").hexdigest()
    assert words(Parts({key: b"\xff\x00"}).of_text(key)) == ["2 bytes: ff00"]


def test_a_hash_of_itself_ends() -> None:
    """No real hash does this; what is hostile must not hang."""
    digest = "a" * 64
    assert Parts({digest: digest.encode()}).of_text(digest)


@given(st.text(min_size=490, max_size=520), st.text(min_size=490, max_size=520))
def test_texts_that_differ_stay_different_when_they_are_cut(one: str, other: str) -> None:
    assert (shorten(one) == shorten(other)) == (one == other)


def test_texts_that_differ_only_where_they_are_cut_stay_different() -> None:
    assert shorten("x" * 600 + "1") != shorten("x" * 600 + "2")


def test_a_value_of_a_set_has_one_order() -> None:
    assert Parts({}).of_value(frozenset("abc")) == Parts({}).of_value(frozenset("cba"))


def test_only_keys_that_pytensor_makes_can_be_taken_apart() -> None:
    assert problem("c_module") is None
    assert "jax" in (problem("jax") or "")
