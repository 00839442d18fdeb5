from __future__ import annotations

import doctest
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observatory.decide import units
from observatory.decide.units import change, count, human, percent, seconds, size, times


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


@pytest.mark.parametrize(
    ("fraction", "text"),
    [(0, "0 %"), (0.08, "8 %"), (0.0834, "8.3 %"), (0.0996, "10 %"), (0.125, "12 %"),
     (-0.02, "-2 %"), (9.99, "999 %"), (15, "1,500 %"), (1e-9, "under 0.01 %"),
     (1e300, "over a million billion %")],
)  # fmt: skip
def test_percent(fraction: float, text: str) -> None:
    assert percent(fraction) == text


@pytest.mark.parametrize(
    ("factor", "text"),
    [(2, "2 times"), (3.31, "3.3 times"), (9.96, "10 times"), (999.6, "1,000 times"),
     (math.inf, "over 1,000 times")],
)  # fmt: skip
def test_times(factor: float, text: str) -> None:
    assert times(factor) == text


@pytest.mark.parametrize(
    ("base", "head", "unit", "text"),
    [(0.2514, 4.53, "seconds", "0.25 s → 4.53 s"), (0.25, 0.83, "seconds", "250 ms → 830 ms"),
     (0.002, 4.53, "seconds", "2.00 ms → 4.53 s"), (90, 134, "seconds", "90.0 s → 2 min 14 s"),
     (413e6, 1.2e9, "bytes", "0.41 GB → 1.20 GB"), (813, 900, "bytes", "813 B → 900 B"),
     (0, 35, "functions", "0 → 35"), (None, 1.0, "seconds", "- → 1.00 s"),
     (-1.0, 1.0, "seconds", "-1.00 s → 1.00 s")],
)  # fmt: skip
def test_a_change_is_said_in_one_scale_where_it_can_be(
    base: float | None, head: float, unit: str, text: str
) -> None:
    assert change(base, head, unit) == text


@given(st.floats(), st.floats(), st.sampled_from(["seconds", "bytes", "functions"]))
def test_no_number_makes_a_long_text(base: float, head: float, unit: str) -> None:
    assert len(change(base, head, unit)) <= 60


def test_the_examples_hold() -> None:
    assert doctest.testmod(units).failed == 0
