"""What comes from others lies unchanged in the pages, with its licence."""

from __future__ import annotations

import hashlib
import tomllib
from pathlib import Path

import pytest

import dashboard
from dashboard.rendering import assets

VENDOR = Path(dashboard.__file__).parent / "assets" / "vendor"


@pytest.mark.parametrize("directory", sorted(VENDOR.iterdir()), ids=lambda one: one.name)
def test_every_file_of_others_has_the_hash_that_is_written_beside_it(directory: Path) -> None:
    record = tomllib.loads((directory / "vendored.toml").read_text())
    there = {one.name for one in directory.iterdir()} - {"vendored.toml"}
    assert there == set(record["sha256"])
    assert "LICENSE" in there
    for name, expected in record["sha256"].items():
        assert hashlib.sha256((directory / name).read_bytes()).hexdigest() == expected, name


def test_the_pages_hold_the_licence_beside_the_script() -> None:
    files = dict(assets())
    assert b"Permission is hereby granted" in files["assets/vendor/uplot/LICENSE"]
    assert len(files["assets/vendor/uplot/uPlot.iife.min.js"]) < 60_000


def test_scripts_and_styles_of_the_series_page_stay_below_200_kb() -> None:
    page = (VENDOR.parents[1] / "templates" / "series.html.j2").read_text()
    own = [
        n for n in dict(assets()) if Path(n).stem in page or n.endswith(("style.css", "site.js"))
    ]
    assert sum(len(dict(assets())[name]) for name in own) < 200_000
