"""Examples of the documentation that measure: each page up to its last measurement.

What follows there measures nothing, and is run by `tests/unit/docs/test_examples.py`. The pages
that add something are run by `test_adding`, which also counts the files that they change.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from observatory.run.environments import Environment
from tests.docs_examples import (
    Block,
    Runner,
    blocks,
    copy_of_checkout,
    measured_subjects,
    pages,
)
from tests.integration.conftest import lend

pytestmark = pytest.mark.integration
MINUTES = 60
"""For one script: another run may be measuring on this machine, and is waited for."""


@pytest.mark.parametrize(
    "page",
    [
        page
        for page in pages()
        if any(block.measures for block in blocks(page)) and "/add-a-" not in page
    ],
)
def test_examples_that_measure_do_what_the_page_says(
    page: str, tmp_path: Path, environment_of: Callable[..., Environment]
) -> None:
    checkout = copy_of_checkout(tmp_path / "checkout")
    lend(checkout / ".observatory", *map(environment_of, measured_subjects(page)))
    # What the page changes is changed in the copy, and the copy is what runs.
    runner = Runner(checkout, {"PYTHONPATH": str(checkout)}, timeout=60.0 * MINUTES)
    for block in up_to_last_measurement(page):
        if block.parts and not block.parts["not_run"]:
            runner.carry_out(block)


def up_to_last_measurement(page: str) -> list[Block]:
    """The blocks of a page up to its last script that measures, and what that one prints."""
    found = blocks(page)
    last = max(number for number, block in enumerate(found) if block.measures)
    while last + 1 < len(found) and (parts := found[last + 1].parts) and parts["prints"]:
        last += 1
    return found[: last + 1]
