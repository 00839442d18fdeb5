from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observatory.benchmarks.catalogue import METRICS
from observatory.text.units import (
    change,
    count,
    difference,
    effect,
    human,
    percent,
    seconds,
    signed,
    size,
    span,
)


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
    assert {human(3, one.unit) for one in METRICS.values() if one.kind == "exact"} == {
        "3", "3 B", "3.00 s"
    }  # fmt: skip
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
    ("ratio", "text"),
    [(1.3, "+30 %"), (371 / 482, "−23 %"), (1.999, "+100 %"), (2, "×2"), (0.5, "÷2"),
     (4.53, "×4.5"), (1 / 4.53, "÷4.5"), (18.2, "×18"), (1234, "over ×1,000"),
     (0.0004, "over ÷1,000"), (math.inf, "over ×1,000"), (0, "−100 %"), (1, "0 %"),
     (1 + 1e-9, "under +0.01 %"), (1 - 1e-9, "under −0.01 %")],
)  # fmt: skip
def test_a_ratio_is_told_as_the_change_of_the_value_with_its_sign(ratio: float, text: str) -> None:
    assert signed(ratio) == text


@given(st.floats(1e-3, 1e3))
def test_the_sign_is_the_direction_of_the_value(ratio: float) -> None:
    said = signed(ratio)
    assert any(sign in said for sign in "+×") == (ratio > 1)
    assert any(sign in said for sign in "−÷") == (ratio < 1)


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [(1.26, 1.34, "+26 to +34 %"), (0.75, 0.79, "−25 to −21 %"), (0.97, 1.1, "−3 to +10 %"),
     (1.9, 2.1, "+90 % to ×2.1"), (0.2, 0.25, "÷5 to ÷4"), (1.021, 1.0211, "+2.1 %")],
)  # fmt: skip
def test_an_interval_runs_from_its_low_to_its_high_end(low: float, high: float, text: str) -> None:
    assert span(low, high) == text


@pytest.mark.parametrize(
    ("base", "head", "unit", "text"),
    [(0.482, 0.371, "seconds", "faster: −23 %"), (0.371, 0.482, "seconds", "slower: +30 %"),
     (3e6, 1e6, "bytes", "smaller: ÷3"), (100, 110, "GB/s", "higher: +10 %"),
     (0, 3, "GB/s", "higher: +3 GB/s"), (-2.0, -1.0, "seconds", "slower: +1.00 s"),
     (5, 5, "", "the same")],
)  # fmt: skip
def test_what_became_of_a_value_is_a_word_and_a_change(
    base: float, head: float, unit: str, text: str
) -> None:
    assert effect(base, head, unit) == text


def test_counts_change_by_a_difference() -> None:
    assert difference(20, 10, "functions") == "lower: −10"


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [(0.00316, "gflops", "0.00316 gflops"), (12.0, "°C", "12 °C"), (2.5, "m/s", "2.5 m/s"),
     (7.0, "unit", "7"), (7.0, "functions", "7"), (7.0, "", "7"),
     (7.0, "@everybody", "7"), (7.0, "www.example.org", "7"), (7.0, "x" * 25, "7"),
     (7.0, "[a](b)", "7"), (7.0, "a\n", "7")],
)  # fmt: skip
def test_a_strangers_unit_is_kept_and_can_do_nothing(value: float, unit: str, text: str) -> None:
    assert human(value, unit) == text


@pytest.mark.parametrize(
    ("base", "head", "unit", "text"),
    [(0.2514, 4.53, "seconds", "0.25 → 4.53 s"), (0.25, 0.83, "seconds", "250 → 830 ms"),
     (2.34e-4, 0.161, "seconds", "0.23 → 161 ms"), (0.002, 4.53, "seconds", "0.002 → 4.53 s"),
     (4e-6, 4.53, "seconds", "4.00 µs → 4.53 s"), (90, 134, "seconds", "90.0 s → 2 min 14 s"),
     (134, 194, "seconds", "2 min 14 s → 3 min 14 s"), (413e6, 1.2e9, "bytes", "0.41 → 1.20 GB"),
     (813, 900, "bytes", "813 → 900 B"), (0, 35, "functions", "0 → 35"),
     (None, 1.0, "seconds", "- → 1.00 s"), (-1.0, 1.0, "seconds", "-1.00 → 1.00 s"),
     (2.001, 2.004, "seconds", "2.001 → 2.004 s"), (0.25, 0.25, "seconds", "250 → 250 ms"),
     (99.91e-3, 99.92e-3, "seconds", "99.91 → 99.92 ms"),
     (1.0, 1.0000001, "seconds", "1.00 → 1.00 s"),
     (0.00316, 0.00373, "gflops", "0.00316 → 0.00373 gflops"), (0, 2, "kg", "0 → 2 kg")],
)  # fmt: skip
def test_a_change_is_said_in_one_scale_where_it_can_be_and_its_unit_once(
    base: float | None, head: float, unit: str, text: str
) -> None:
    assert change(base, head, unit) == text


@given(st.floats(), st.floats(), st.sampled_from(["seconds", "bytes", "functions"]))
def test_no_number_makes_a_long_text(base: float, head: float, unit: str) -> None:
    assert len(change(base, head, unit)) <= 60


@pytest.mark.parametrize("unit", sorted({one.unit for one in METRICS.values()}))
def test_a_count_of_the_observatory_has_no_unit(unit: str) -> None:
    assert (human(1, unit) == "1") == (unit not in ("seconds", "bytes"))
