from __future__ import annotations

import pytest

from observatory.benchmarks.shared_cache import differ


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([1.0, -2.0], [1.0, -2.0], False),
        ([1.0], [1.0 + 1e-12], False),  # cold and reloaded code differ in the last bits
        ([1.0], [1.0 + 1e-6], True),
        ([0.0], [0.0], False),
        ([0.0], [1e-300], True),
        ([None], [None], False),
        ([None], [1.0], True),
        ([1.0], [1.0, 2.0], True),
        ([], [], False),
    ],
)
def test_values_differ_beyond_the_last_bits(
    one: list[float | None], other: list[float | None], expected: bool
) -> None:
    assert differ(one, other) is expected
    assert differ(other, one) is expected
