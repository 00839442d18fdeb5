"""What the record says of an error."""

from __future__ import annotations

import sys
from pathlib import Path

from observatory.benchmarks import raised

HOLDS = Path(raised.__file__).absolute().parents[1]


def test_a_message_names_no_directory_of_the_machine_and_is_shortened_after_that() -> None:
    error = AssertionError(f"{sys.prefix}/lib/graph.py, {HOLDS}/benchmarks/each.py, and more")
    assert raised.message_of(error, 55) == "AssertionError: lib/graph.py, benchmarks/each.py, and m"


def test_pages_become_one_line() -> None:
    error = ValueError(f"Failed in\n  nopython mode\t{sys.prefix}/lib/numba.py\n" + "x" * 2000)
    found = raised.one_line(error)
    assert found.startswith("ValueError: Failed in nopython mode lib/numba.py xxx")
    assert len(found) == 1000
