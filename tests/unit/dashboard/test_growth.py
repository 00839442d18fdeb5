"""The page of growth, and its pictures with two logarithmic scales."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from observatory.analyze.growth.curve import Point
from observatory.dashboard.drawing.loglog import SizeLine, drawing
from observatory.dashboard.site import build
from observatory.store.records.sample import Build, Size
from tests import factories_frame as factory
from tests.factories_site import observed

CELL = "growth growth NUMBA spawn"
EVIL = "</th><script>alert(1)</script>"


def builds(family: str = "layers.Scan") -> list[Build]:
    return [
        Build(name=f"{family}.{size}",
              metrics={"python_calls": 1_000 + 100 * size, "functions_compiled": 11},
              size=Size(family=family, noun="layers", number=size, limit=12.0, equal_layers=True))
        for size in (1, 3, 10, 30, 100)
    ]  # fmt: skip


def site_of(family: str) -> Any:
    base = observed(factory.frame())
    line = base.lines[0]
    where = line.machine, line.env_name, line.subjects[-1].commit
    return replace(base, growth={where: {CELL: builds(family)}})


def test_without_growing_graphs_there_is_no_page_and_no_link_to_one(tmp_path: Path) -> None:
    build(observed(factory.frame()), tmp_path)
    assert not (tmp_path / "growth.html").exists()
    assert "growth.html" not in (tmp_path / "index.html").read_text()


def test_the_page_has_exponents_functions_and_a_picture_of_each_family(tmp_path: Path) -> None:
    build(site_of("layers.Scan"), tmp_path)
    assert 'href="growth.html"' in (tmp_path / "matrix.html").read_text()
    page = (tmp_path / "growth.html").read_text()
    assert "<td>1.00 (1.00 to 1.00)</td>" in page
    assert "<td>11 with 1 to 100</td>" in page
    assert page.count('<svg class="chart"') == 1


def test_each_machine_has_its_own_tables_and_pictures(tmp_path: Path) -> None:
    both = observed(pd.concat([factory.frame(), factory.frame(machine="slow-4c")]))
    cells = {CELL: builds()}
    where = {(one.machine, one.env_name, one.subjects[-1].commit): cells for one in both.lines}
    build(replace(both, growth=where), tmp_path)
    page = (tmp_path / "growth.html").read_text()
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    titles = re.findall(r"<h2.*?</h2>", page)
    assert [("bench-2c" in one, "slow-4c" in one) for one in titles[:2]] == [
        (True, False), (False, True),
    ]  # fmt: skip
    assert page.count('<svg class="chart"') == 2


def test_subjects_with_like_labels_are_columns_of_their_own(tmp_path: Path) -> None:
    labels = [f"3.3.8 numba==0.6{n}.0 pymc==6.4.0" for n in (6, 7)]
    frame = factory.frame()
    last = sorted(set(frame["subject"]))[-2:]
    both = observed(frame.replace({"subject": dict(zip(last, labels, strict=True))}))
    line = both.lines[0]
    named = [one for one in line.subjects if one.label in labels]
    where = {(line.machine, line.env_name, one.commit): {CELL: builds()} for one in named}
    build(replace(both, growth=where), tmp_path)
    page = (tmp_path / "growth.html").read_text()
    assert len(named) == 2
    for label in labels:
        assert f"{label}</th>" in page


def test_a_hostile_name_of_a_family_is_shown_as_text(tmp_path: Path) -> None:
    build(site_of(EVIL), tmp_path)
    assert "<script>alert" not in (tmp_path / "growth.html").read_text()


def test_a_power_of_the_size_is_a_straight_line() -> None:
    points = [Point(size, 2.0 * size**2) for size in (1, 10, 100)]
    found = drawing("slug", "title", "calls", [SizeLine("3.3.8", "b-s0", points)])
    assert found is not None
    (path,) = found.strokes[0].paths
    (x0, y0), (x1, y1), (x2, y2) = (map(float, pair.split(",")) for pair in path.split())
    assert abs((y1 - y0) / (x1 - x0) - (y2 - y1) / (x2 - x1)) < 0.01
    assert drawing("slug", "title", "calls", [SizeLine("3.3.8", "b-s0", [])]) is None
