"""Cache passports, and what a cache says of who filled it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observatory.store.base.problems import RecordError, RecordUsageError
from observatory.store.records.passport import NAME, Passport, load, stamp

ONE = Passport(pytensor="3.3.8", numba="0.68.0", python="3.13.0", machine=("t", "znver4", "+a"))


def test_the_key_spells_out_what_people_ask_for() -> None:
    assert ONE.key.startswith("pytensor-3.3.8-numba-0.68.0-py3.13.0-znver4-")
    assert ONE.key_of("3.3.7") == ONE.key.replace("3.3.8", "3.3.7")


@pytest.mark.parametrize(
    "changed",
    [
        {"pytensor": "3.3.9"}, {"numba": "0.68.1"}, {"python": "3.13.1"}, {"numpy_abi": "0x1"},
        {"machine": ("t", "znver4", "+a,+b")}, {"compiler": "12.3.0"}, {"settings": {"a": "b"}},
    ],
)  # fmt: skip
def test_whatever_differs_changes_the_key(changed: dict[str, object]) -> None:
    assert ONE.model_copy(update=changed).key != ONE.key


@given(st.text(max_size=40), st.text(max_size=40))
def test_a_key_is_one_word_for_every_shell(version: str, cpu: str) -> None:
    key = Passport(pytensor=version, python="3.13.0", machine=("t", cpu, "")).key
    assert all(letter.isascii() and (letter.isalnum() or letter in "._-") for letter in key)


def test_a_cache_remembers_each_that_used_it_once(tmp_path: Path) -> None:
    other = ONE.model_copy(update={"pytensor": "3.3.9"})
    assert load(tmp_path) == []
    for used in (ONE, other, ONE):
        stamp(tmp_path, used)
    assert load(tmp_path) == [other, ONE]


def test_of_several_at_once_none_is_forgotten(tmp_path: Path) -> None:
    each = [ONE.model_copy(update={"pytensor": f"3.0.{number}"}) for number in range(32)]
    with ThreadPoolExecutor(8) as several:
        list(several.map(lambda one: stamp(tmp_path, one), each))
    assert {one.pytensor for one in load(tmp_path)} == {one.pytensor for one in each}


def test_none_that_used_it_is_forgotten(tmp_path: Path) -> None:
    for number in range(100):
        stamp(tmp_path, ONE.model_copy(update={"pytensor": f"3.0.{number}"}))
    with pytest.raises(RecordUsageError, match="100 environments have used"):
        stamp(tmp_path, ONE)


def test_a_broken_passport_is_named(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text('{"schema": "observatory/passport/1", "passports": [{}]}')
    with pytest.raises(RecordError, match=NAME):
        load(tmp_path)
