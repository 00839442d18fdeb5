"""The pictures of findings show what the documentation says of them."""

from __future__ import annotations

from pathlib import Path

from scripts.docs.pictures_of_findings import work

RESULTS = Path(__file__).parents[3] / "results"


def test_the_picture_of_work_has_builds_calls_and_parts_by_release() -> None:
    build, calls, parts = work(RESULTS).axes
    found = {}
    for axes in (build, calls):
        names = [label.get_text() for label in axes.get_xticklabels()]
        heights = [bar.get_height() for bar in axes.patches]
        found[axes.get_title(loc="left")] = dict(zip(names, heights, strict=True))
    assert [round(one["3.2.4"], 3) for one in found.values()] == [1.656, 63.117]
    assert [round(one["3.3.7"], 3) for one in found.values()] == [1.732, 51.86]
    assert "ScalarizeRewriter" in [label.get_text() for label in parts.get_yticklabels()]
