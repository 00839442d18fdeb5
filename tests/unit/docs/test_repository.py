"""The repository is named in pyproject.toml, and wherever it is repeated it is the same."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
NAMED = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]["Repository"]


@pytest.mark.parametrize("page", ["README.md"])
def test_the_line_that_installs_names_the_repository(page: str) -> None:
    lines = re.findall(r"git\+(https://\S+?)[\s\"'`]", (ROOT / page).read_text())
    assert lines
    assert set(lines) == {NAMED}
