"""Which cause a verdict has."""

from __future__ import annotations

import pytest

from observatory.analyze.comparison.attributing import costs_little


@pytest.mark.parametrize(
    ("seconds", "slower", "little"),
    [
        (0.1, 1.0, True),
        (0.2, 1.0, False),
        (None, 1.0, False),  # nobody measured it
        (0.0, 0.0, False),  # nothing is slower: there is nothing that it could not explain
    ],
)
def test_a_cause_is_too_small_only_for_a_time_that_grew_by_much_more(
    seconds: float | None, slower: float, little: bool
) -> None:
    assert costs_little(seconds, slower) == little
