"""The page on scale says what the committed results cost today."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from scripts.docs.rows import Taken, read
from scripts.scale import bill, plan_tables
from scripts.scale.bill import Bill, Cost, Planned, at, last_power, power
from scripts.scale.plan import costs, measured_before

ROOT = Path(__file__).parents[3]
TAKEN = Taken(at=datetime(2026, 11, 28, 12, tzinfo=UTC), cpu="EPYC", cpus=2, load=2)
AGAIN = "run `python -m scripts.scale.plan --json results/tables/plan.jsonl`, then `make docs`"


def planned(**changed: object) -> Planned:
    """A plan of round numbers: a project has ten times what a subject has."""
    told: dict[str, object] = {
        "taken": TAKEN, "projects": 100, "series": 1000, "commits": 1000, "subjects": 2,
        "cost": Cost(samples=10, seconds=36, series=100, journal=500, ledgers=2, ledger=50),
        "curves": {
            bill.DETECTOR: {100: 0.001, 300: 0.009, 1000: 0.1},
            bill.LIST: {1000: 0.01, 10_000: 0.1},
            bill.PAGES_SERIES: {100: 1.0, 200: 2.0}, bill.PAGES_VALUES: {100: 1.0, 500: 4.0},
            bill.STORE: {10: 2.0, 30: 1.0}, bill.BRANCH: {10: 2.0, 1000: 20.0},
            bill.CLIENT: {1: 0.02, 2: 0.036},
        },
        "built": 100, "published": 20, "requests": 11, "listed": 700,
    }  # fmt: skip
    return Planned.model_validate(told | changed)


def test_the_page_has_the_costs_of_the_committed_results() -> None:
    page = (ROOT / "docs" / "explanation" / "scale.md").read_text()
    found = costs(ROOT / "results")
    hours = 1000 * found.seconds * 10_000 / found.series / 3600
    for row in (
        f"| samples | {found.samples:.0f} |",
        f"| their seconds, one after the other | {found.seconds:,.0f} |",
        f"| series | {found.series:.0f} |",
        f"| bytes of its journal, compressed | {found.journal:,.0f} |",
        f"| hours of measuring, one sample after the other | {hours:,.0f} |",
    ):
        assert row in page, AGAIN


def test_the_newest_plan_has_what_the_other_tables_say_today() -> None:
    made = read(Planned, plan_tables.PLAN)[-1]
    known = measured_before(ROOT / "results" / "tables")
    assert {name: made.curves[name] for name in known} == known, AGAIN


def test_the_simulated_nights_are_of_the_newest_plan() -> None:
    made = Bill(read(Planned, plan_tables.PLAN)[-1])
    nights = read(plan_tables.Simulated, plan_tables.NIGHT_SIMULATION)
    again = "run `python -m scripts.scale.night_simulation --json FILE`, with the file of its rows"
    for one in {one.name: one for one in nights}.values():
        assert one.client == pytest.approx(made.client, rel=0.05), again
        assert one.publish == pytest.approx(made.try_seconds(plan_tables.PARTS), rel=0.05), again
        assert one.series in (made.planned.series, 2 * made.planned.series), again


def test_a_power_is_found_again_and_goes_on_beyond_what_was_measured() -> None:
    points = {10: 1.0, 100: 10.0, 1000: 1000.0}
    assert power({2: 8.0, 4: 64.0, 8: 512.0}) == pytest.approx(3)
    assert last_power(points) == pytest.approx(2)
    assert at(points, 10_000) == pytest.approx(100_000)
    assert at(points, 100) == pytest.approx(10)
    assert 10 < at(points, 200) < 1000


def test_the_bill_is_the_product_of_what_was_measured() -> None:
    made = Bill(planned())
    assert made.samples == 100 * 10 * 10
    assert made.hours == pytest.approx(10)
    assert made.files == 21
    assert made.bytes == 10 * (500 + 2 * 50)
    assert made.client_hours == pytest.approx(0.1)
    assert made.publish_hours * 3600 == pytest.approx(10_000 / 20 * 2)
    assert made.list_seconds == pytest.approx(0.21)
    assert made.detector_hours == pytest.approx(100 * 1000 * 0.1 / 3600)
    assert made.try_seconds(5) == pytest.approx(2 + 0.21)


def test_pages_grow_with_the_square_where_no_series_was_as_long() -> None:
    longest = Bill(planned(commits=500)).page_seconds
    assert longest == pytest.approx(4 * 10)
    assert Bill(planned(commits=1000)).page_seconds == pytest.approx(4 * longest)
    assert Bill(planned(commits=100)).page_seconds == pytest.approx(1 * 10)


def test_the_parts_of_the_page_say_what_the_newest_plan_has() -> None:
    parts = plan_tables.planned([planned(subjects=7), planned()])
    assert "the mean of 2" in parts["scale subject"]
    assert "| requests to publish them to stores | 3,300 |" in parts["scale night"]
    assert "| 1,000 to 10,000 files | 10 ms to 100 ms | 1.00 | 1.00 |" in parts["scale powers"]
    assert "| memory for this list | 15 MB |" in parts["scale limits"]
    assert set(plan_tables.planned([]).values()) == {""}
