"""The examples in docstrings hold."""

from __future__ import annotations

import doctest
import re
from importlib import import_module
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
UNDER_TEST = re.compile(r"^\s*(?:from|import) (?:pytensor|numba)\b", re.MULTILINE)
"""Modules that import it can only be imported in an environment under test."""


def modules() -> list[str]:
    """The modules with examples, under the names by which all packages are imported."""
    found = []
    for package in ("observatory", "observatory/benchmarks", "observatory/dashboard"):
        where = (TOP / package).resolve()
        for path in where.rglob("*.py"):
            text = path.read_text("utf-8")
            if ">>> " in text and not UNDER_TEST.search(text):
                inside = path.relative_to(where).with_suffix("")
                found.append(".".join((*Path(package).parts, *inside.parts)))
    return sorted({name.removesuffix(".__init__") for name in found})


@pytest.mark.parametrize("name", modules())
def test_the_examples_of_a_module_hold(name: str) -> None:
    done = doctest.testmod(import_module(name))
    assert done.attempted
    assert done.failed == 0
