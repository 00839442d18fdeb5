from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observatory.decide.units import count, human, seconds, size


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 s"), (4.9e-6, "4.90 µs"), (0.2514, "251 ms"), (0.9996, "1.00 s"), (9.996, "10.0 s"),
     (1e-3, "1.00 ms"), (99.94, "99.9 s"), (99.96, "1 min 40 s"), (3_725, "1 h 02 min"),
     (5e-13, "0.00 ns"), (-0.5, "-500 ms")],
)  # fmt: skip
def test_seconds(value: float, text: str) -> None:
    assert seconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.00 kB"), (13_500_000, "13.5 MB"), (-2000, "-2.00 kB"),
     (999_999, "1.00 MB")],
)  # fmt: skip
def test_bytes(value: float, text: str) -> None:
    assert size(value) == text


def test_counts() -> None:
    assert [count(value) for value in (0, 597_703.0, 2.5)] == ["0", "597,703", "2.5"]


def test_the_unit_chooses_the_form_and_nothing_is_a_dash() -> None:
    assert human(2.0, "seconds") == "2.00 s"
    assert human(2000, "bytes") == "2.00 kB"
    assert human(2000, "functions") == "2,000"
    assert human(None, "seconds") == human(math.nan, "bytes") == "-"
    assert human(-math.inf, "seconds") == "-infinite"


@given(st.floats(), st.sampled_from(["seconds", "bytes", "functions", ""]))
def test_any_number_has_a_text(value: float, unit: str) -> None:
    assert human(value, unit)
