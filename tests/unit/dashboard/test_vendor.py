"""What comes from others lies unchanged in the pages, with its licence."""

from __future__ import annotations

import hashlib
import re
import tomllib
from pathlib import Path

import pytest

from observatory import dashboard
from observatory.dashboard.rendering import assets
from observatory.dashboard.site import build
from tests import factories_frame as factory
from tests.factories_site import observed

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


def test_the_page_of_a_series_stays_below_150_kb_beside_its_data(tmp_path: Path) -> None:
    """Uncompressed, with all that the page asks for before somebody touches it."""
    build(observed(factory.as_frame([])), tmp_path / "html")
    page = (tmp_path / "html" / "series.html").read_text()
    named = re.findall(r"(?:src|href)=\"(assets/[\w./-]+)\"", page)
    assert {"assets/style.css", "assets/site.js", "assets/charts.js"} < set(named)
    files = [page.encode(), *((tmp_path / "html" / name).read_bytes() for name in named)]
    assert sum(map(len, files)) < 150_000
