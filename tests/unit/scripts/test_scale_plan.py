"""The page on scale says what the committed results cost today."""

from __future__ import annotations

from pathlib import Path

from scripts.scale.plan import costs

ROOT = Path(__file__).parents[3]


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
        assert row in page
