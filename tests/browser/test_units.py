"""assets/units.js writes every number exactly as observatory/text/units.py does."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any

import pytest

from observatory.benchmarks.catalogue import METRICS
from observatory.dashboard.rendering import assets
from observatory.text import units

pytestmark = pytest.mark.browser
EDGES = [
    0.0, -0.0, 1.0, -1.0, -0.4, 0.5, 1.5, 2.5, 0.125, 0.375, 1.005, 2.675, 9.949, 9.95, 9.995,
    12.5, 99.5, 99.949, 99.95, 100.5, 999.4, 999.5, 999.95, 1000.0, 1000.5, 3599.5, 3600.0,
    0.9994, 0.9995, 0.9996, 0.0001, 0.00009999, 0.00001, 4.9e-6, 9.995e-7, 1e-9, 5e-324,
    999_499.0, 999_500.0, 1_125_000.0, 1e12, 9.995e14, 1e15, 1.1e15, 1e21, 1e22, 1e300,
    math.nan, math.inf, -math.inf,
]  # fmt: skip
SINGLE = ("seconds", "size", "count", "percent")
OWN = sorted({metric.unit for metric in METRICS.values()})
UNITS = (*OWN, "constructor", "GB/s", "@all [x](y)", "www.a.b", "°C")


@pytest.fixture(scope="module")
def page(browser: Any) -> Iterator[Any]:
    blank = browser.new_page()
    blank.add_script_tag(content="const observatory = {};")
    blank.add_script_tag(content=dict(assets())["assets/units.js"].decode())
    yield blank
    blank.close()


def values() -> list[float]:
    """Edges, ties of every place that is rounded at, and numbers of all sizes."""
    drawn = random.Random(20251106)
    ties = [number / part for part in (2, 4, 8, 16, 32) for number in range(0, 1700, 5)]
    sizes = [drawn.choice((-1, 1)) * 10 ** drawn.uniform(-12, 17) for _ in range(1500)]
    short = [round(drawn.uniform(0, 1100), drawn.randrange(5)) for _ in range(1000)]
    return EDGES + ties + sizes + short


def test_numbers_read_the_same_in_the_browser_and_in_the_terminal(page):
    given = values()
    told = page.evaluate(
        "([given, single, all]) => given.map((value) => [...single.map((name) =>"
        " observatory.units[name](value)), ...all.map((unit) =>"
        " observatory.units.human(value, unit))])",
        [given, list(SINGLE), list(UNITS)],
    )
    expected = [
        [getattr(units, name)(value) for name in SINGLE]
        + [units.human(value, unit) for unit in UNITS]
        for value in given
    ]
    wrong = [
        (value, got, want)
        for value, *both in zip(given, told, expected, strict=True)
        for got, want in zip(*both, strict=True)
        if got != want
    ]
    assert wrong == []


def test_changes_read_the_same_in_the_browser_and_in_the_terminal(page):
    drawn = random.Random(20251107)
    given = values()
    near = [
        value * drawn.choice((1.0, 1.00001, 1.0005, 1.002, 1.01, 3.0, 9.99, 10.01, 40.0))
        for value in given
    ]
    edges = [(one, other) for one in EDGES for other in EDGES[::3]]
    pairs = [*zip(given, near, strict=True), *zip(near, given, strict=True), *edges]
    pairs += [(None, 1.0), (2.5, None), (None, None), (None, math.nan)]
    told = page.evaluate(
        "([pairs, all]) => pairs.map(([base, head]) =>"
        " all.map((unit) => observatory.units.change(base, head, unit)))",
        [[list(pair) for pair in pairs], list(UNITS)],
    )
    expected = [[units.change(*pair, unit) for unit in UNITS] for pair in pairs]
    wrong = [
        (pair, got, want)
        for pair, got, want in zip(pairs, told, expected, strict=True)
        if got != want
    ]
    assert wrong == []


def test_what_became_of_a_value_reads_the_same_in_the_browser_and_in_the_terminal(page):
    given = [value for value in values() if value >= 0]
    told = page.evaluate("given => given.map((ratio) => observatory.units.signed(ratio))", given)
    assert told == [units.signed(ratio) for ratio in given]
    drawn = random.Random(20251108)
    pairs = [(one, drawn.choice(given)) for one in values() if math.isfinite(one)]
    pairs += [(one, one * drawn.uniform(0.4, 2.5)) for one, _ in pairs]
    told = page.evaluate(
        "([pairs, all]) => pairs.map(([base, head]) => all.flatMap((unit) =>"
        " [observatory.units.effect(base, head, unit),"
        " observatory.units.difference(base, head, unit)]))",
        [[list(pair) for pair in pairs], list(UNITS)],
    )
    expected = [
        [say(*pair, unit) for unit in UNITS for say in (units.effect, units.difference)]
        for pair in pairs
    ]
    wrong = [each for each in zip(pairs, told, expected, strict=True) if each[1] != each[2]]
    assert wrong == []


def test_there_is_no_number_where_nothing_was_measured(page):
    assert page.evaluate("observatory.units.human(null, 'seconds')") == units.human(None, "s")
    assert page.evaluate("observatory.units.human(undefined, 'bytes')") == units.MISSING
