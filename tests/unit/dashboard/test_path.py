"""The page of the path of a user of PyMC."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from observatory.dashboard.pages.path import path_page
from observatory.dashboard.site import build
from observatory.store.reading.walks import StepTaken
from tests import factories_frame as factory
from tests.factories_site import observed

COUNTS = {"graphs_compiled": 1.0, "functions_compiled": 42.0, "cache_misses": 0.0}
GOOD = StepTaken("compile_logp", metrics={**COUNTS, "step_time": 1.56}, compiled=("pm.compile",))
EVIL = "</th><script>alert(1)</script>"


def site_of(warm: StepTaken, scenario: str = "path_warm") -> Any:
    base = observed(factory.frame())
    line = base.lines[0]
    where = line.machine, line.env_name, line.subjects[-1].commit
    cells = {"eight_schools path_cold NUMBA spawn": [GOOD],
             f"eight_schools {scenario} NUMBA spawn": [warm]}  # fmt: skip
    return replace(base, walks={where: cells})


def test_without_a_path_there_is_no_page_and_no_link_to_one(tmp_path: Path) -> None:
    build(observed(factory.frame()), tmp_path)
    assert not (tmp_path / "path.html").exists()
    assert "path.html" not in (tmp_path / "index.html").read_text()


def test_a_step_has_its_counts_and_its_time_from_both_caches(tmp_path: Path) -> None:
    build(site_of(GOOD), tmp_path)
    page = (tmp_path / "path.html").read_text()
    assert page.count("1 · 42 · 0<small>1.56 s</small>") == 4  # of the step and of all steps
    assert "pm.compile" in page
    assert 'href="path.html"' in (tmp_path / "matrix.html").read_text()


def test_only_a_miss_from_a_filled_cache_is_marked() -> None:
    missed = replace(GOOD, metrics={**COUNTS, "cache_misses": 3.0})
    for scenario, marked in (("path_warm", [False, True]), ("path_cold", [False])):
        found = path_page(site_of(missed, scenario))
        assert found is not None
        places = found["tables"][0]["rows"][0].places
        assert [place.missed for place in places] == marked


def test_what_is_wrong_or_raised_is_said_with_its_reason(tmp_path: Path) -> None:
    build(site_of(StepTaken("compile_logp", "crashed", f"ValueError: {EVIL}")), tmp_path)
    page = (tmp_path / "path.html").read_text()
    assert "crashed" in page
    assert "ValueError" in page
    assert "<script>alert" not in page
    wrong = replace(GOOD, metrics={**COUNTS, "wrong_results": 1.0})
    found = path_page(site_of(wrong))
    assert found is not None
    assert found["tables"][0]["rows"][0].places[1].flag.text == "wrong"
