from __future__ import annotations

import os
import pickle
import struct
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observatory.guard.scan import pickles
from observatory.guard.scan.pickles import Mapping, Opaque, PickleError, load

plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**200), 2**200) | st.floats(allow_nan=False)
    | st.text(st.characters(codec="utf-8"), max_size=300) | st.binary(max_size=300),
    lambda inner: st.lists(inner, max_size=5) | st.lists(inner, max_size=5).map(tuple)
    | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=5),
    max_leaves=20,
)  # fmt: skip


def made(value: Any) -> Any:
    """What was loaded, with dicts again in place of their items."""
    if isinstance(value, Mapping):
        return {made(key): made(item) for key, item in value.items}
    if isinstance(value, list | tuple):
        return type(value)(made(item) for item in value)
    return value


class Bomb:
    """What executes when it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (f"touch {self.marker}",)


@given(plain, st.integers(3, 5))
def test_plain_data_is_what_unpickling_gives(value: Any, protocol: int) -> None:
    content = pickle.dumps(value, protocol)
    assert load(content) == (load(content)[0], len(content))
    assert made(load(content)[0]) == value


def test_two_pickles_after_each_other_are_read_one_by_one() -> None:
    first, second = pickle.dumps("0.68.0", -1), pickle.dumps((0, {}), 4)
    version, end = load(first + second)
    assert (version, end) == ("0.68.0", len(first))
    assert load(first + second, end) == ((0, Mapping([])), len(first + second))


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_a_bomb_that_unpickling_sets_off_is_read_as_a_name(tmp_path: Path, protocol: int) -> None:
    marker = tmp_path / "executed"
    content = pickle.dumps([1, Bomb(marker)], protocol)
    assert load(content)[0] == [1, Opaque("posix.system")]
    assert not marker.exists()
    pickle.loads(content)
    assert marker.exists(), "the bomb is none"


def test_the_text_of_protocol_0_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PickleError, match="numba writes no opcode b'p'"):
        load(pickle.dumps(Bomb(tmp_path), 0))


def test_what_is_given_to_the_result_of_a_call_is_left_out() -> None:
    found = load(pickle.dumps((timedelta(3), frozenset({1}), {2}), 4))[0]
    assert found == (Opaque("datetime.timedelta"), Opaque("a set"), Opaque("a set"))
    content = b"\x80\x04c\nlist\n)R(K\x01K\x02eK\x03aK\x01K\x02s}b."
    assert load(content)[0] == Opaque(".list")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"\x80\x04B\xff\xff\xff\xff", "expected 4294967295 bytes in a bytes4, but only 0 remain"),
        (b"\x80\x04\x8e" + b"\xff" * 8, "8 byte count > sys.maxsize"),
        (b"\x80\x04\x8d" + b"\xff" * 8, "8 byte count > sys.maxsize"),
        (b"\x80\x05\x96" + b"\xff" * 8, "8 byte count > sys.maxsize"),
        (b"\x80\x04\x95" + b"\xff" * 8, "a frame of 18446744073709551615 bytes"),
        (b"\x80\x04\x8b\xff\xff\xff\x7f", "not enough data in stream to read long4"),
        (b"\x80\x04\x8b\xff\xff\xff\xff", "long4 byte count < 0"),
        (b"\x80\x04\x8aA" + b"\x01" * 65 + b".", "an integer of more than 64 bytes"),
        (b"\x80\x06N.", "protocol 6"),
        (b"", "pickle exhausted before seeing STOP"),
        (b".", "empty stack"),
        (b"\x80\x04(.", "empty stack"),
        (b"\x80\x04NN(0.", "empty stack"),
        (b"\x80\x04t.", "a mark is missing"),
        (b"\x80\x04(NNN\x86u.", "empty stack"),
        (b"\x80\x04}(Nu.", "a key has no value"),
        (b"\x80\x04]K\x01K\x02s.", "items are added to a list"),
        (b"\x80\x04K\x01K\x02a.", "items are added to a int"),
        (b"\x80\x04h\x07.", "memo 7 was never filled"),
        (b"\x80\x04NN\x93.", "the name of a global is not text"),
        (b"\x80\x04N)R.", "a NoneType is called"),
        (b"\x80\x04c" + b"x" * 300, "no newline found"),
        (b"\x80\x04P0\n.", "at byte 2: numba writes no opcode b'P'"),
        (b"\x80\x04\x82\x01.", "numba writes no opcode"),
        (b"\x80\x05\x97.", "numba writes no opcode"),
    ],
)  # fmt: skip
def test_what_is_broken_or_claims_too_much_is_refused_and_says_where(
    content: bytes, why: str
) -> None:
    with pytest.raises(PickleError, match=why):
        load(content)


def test_every_cut_is_refused() -> None:
    content = pickle.dumps(({"key": [1, 2.5, b"bytes"]}, timedelta(1), 2**70), 4)
    for length in range(len(content)):
        with pytest.raises(PickleError):
            load(content[:length])


def test_a_billion_laughs_cost_what_their_bytes_do() -> None:
    # Ten references to what came before, a hundred times: 10**100 leaves.
    steps = b"".join(b"(" + b"h%c" % step * 10 + b"tq%c0" % (step + 1) for step in range(100))
    laughs = b")q\x000" + steps + b"h%c" % 100
    loaded, _ = load(b"\x80\x04" + laughs + b".")
    # Nothing but its type and length may be looked at, here as there.
    assert type(loaded) is tuple and len(loaded) == 10  # noqa: PT018
    assert type(load(b"\x80\x04}" + laughs + b"Ns.")[0]) is Mapping


@pytest.mark.parametrize(
    "nested",
    [
        b")" + b"\x85" * 400_000,
        b"]" * 200_000 + b"a" * 199_999,
        b"}N" * 99_999 + b"}" + b"s" * 99_999,
    ],
    ids=["tuples", "lists", "dicts"],
)
def test_nesting_may_be_as_deep_as_the_opcodes_go(nested: bytes) -> None:
    assert type(load(b"\x80\x04" + nested + b".")[0]) in (tuple, list, Mapping)


def test_a_list_may_hold_itself() -> None:
    loaded, _ = load(b"\x80\x04]q\x00h\x00a.")
    assert isinstance(loaded, list)
    assert loaded[0] is loaded


def test_more_opcodes_or_bytes_than_bounds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PickleError, match="more than 500000 opcodes"):
        load(b"\x80\x04" + b"N0" * 300_000 + b"N.")
    monkeypatch.setattr(pickles, "LARGEST", 10)
    with pytest.raises(PickleError, match="it has 11 bytes; more than 10 are not read"):
        load(b"N" * 11)


def test_names_and_long_texts_do_not_grow() -> None:
    long = b"X" + struct.pack("<I", 60_000) + b"x" * 60_000
    loaded, _ = load(b"\x80\x04(" + long + b"q\x00" + b"h\x00h\x00\x93" * 1000 + b"t.")
    assert isinstance(loaded, tuple)
    assert loaded[-1] == Opaque("x" * 200 + "." + "x" * 200)
    long = b"X" + struct.pack("<I", 70_000) + b"x" * 70_000
    assert load(b"\x80\x04" + long + b".")[0] == Opaque("a long text")


def test_a_text_that_cannot_be_encoded_is_shown_escaped_and_one_that_is_none_is_refused() -> None:
    assert load(b"\x80\x04\x8c\x04a\xed\xa0\x80.")[0] == r"a\ud800"
    with pytest.raises(PickleError, match="can't decode"):
        load(b"\x80\x04\x8c\x03a\xed\xa0.")
