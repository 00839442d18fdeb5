"""Examples of the documentation that measure: each page from its beginning to its end.

The pages that add something are run by `test_adding`, which also counts the files that they change.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.docs_examples import ROOT, Runner, blocks, pages

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
def test_examples_that_measure_do_what_the_page_says(page: str, tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    for name in ("results", "benchmarks", "observatory", "dashboard", "tests/unit/benchmarks"):
        shutil.copytree(ROOT / name, checkout / name, ignore=shutil.ignore_patterns("__pycache__"))
    # Environments are known by what is in them: those of this checkout need not be made again.
    (checkout / ".observatory" / "envs").mkdir(parents=True)
    for ready in (ROOT / ".observatory" / "envs").glob("*/ready.json"):
        (checkout / ".observatory" / "envs" / ready.parent.name).symlink_to(ready.parent)
    # What the page changes is changed in the copy, and the copy is what runs.
    runner = Runner(checkout, {"PYTHONPATH": str(checkout)}, timeout=60.0 * MINUTES)
    for block in blocks(page):
        if block.parts and not block.parts["not_run"]:
            runner.carry_out(block)
