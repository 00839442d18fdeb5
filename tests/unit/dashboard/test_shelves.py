"""Which data file a series is in."""

from __future__ import annotations

from hashlib import sha1

from hypothesis import given
from hypothesis import strategies as st

from observatory.dashboard.shelves import MOST, Shelves

IDS = [sha1(str(n).encode(), usedforsecurity=False).hexdigest()[:12] for n in range(400)]


def test_few_series_are_in_one_file() -> None:
    shelves = Shelves.of_sizes(dict.fromkeys(IDS[:20], 100))
    assert {shelves.of(one) for one in IDS[:20]} == {""}
    assert shelves.split == frozenset()


def test_a_file_that_is_too_large_is_split_and_no_other() -> None:
    family = [f"abcd{n:08x}" for n in range(0, 2**32, 2**26)]
    shelves = Shelves.of_sizes({"0" * 12: 10, **dict.fromkeys(family, MOST // 40)})
    assert shelves.of("0" * 12) == "0"
    assert {shelves.of(one) for one in family} == {f"abcd{n:x}" for n in range(16)}


def test_one_series_has_a_file_however_large_it_is() -> None:
    assert Shelves.of_sizes({IDS[0]: 10 * MOST}).of(IDS[0]) == ""


@given(st.lists(st.sampled_from(IDS), min_size=1, unique=True), st.integers(1, MOST))
def test_no_file_of_several_series_is_too_large(ids: list[str], size: int) -> None:
    shelves = Shelves.of_sizes(dict.fromkeys(ids, size))
    files: dict[str, list[str]] = {}
    for one in ids:
        files.setdefault(shelves.of(one), []).append(one)
    assert all(one.startswith(name) for name, there in files.items() for one in there)
    assert all(len(there) == 1 or len(there) * size <= MOST for there in files.values())
