"""What is shown beside a series."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from observatory.dashboard.kin import MOST, nearest


@given(st.lists(st.integers(0, 60), min_size=2 * MOST, unique=True), st.randoms())
def test_the_nearest_are_shown_beside_a_series(there: list[int], random: object) -> None:
    there.sort()
    number = random.choice(there)  # type: ignore[attr-defined]
    place = there.index(number)
    others = sorted(
        (one for one in there if one != number),
        key=lambda one: (abs(there.index(one) - place), one),
    )
    assert nearest(there, number) == sorted(others[:MOST])
