"""The how-tos that add something, each in a copy of the checkout: measured, judged and shown.

Each page is applied and run as it is written, and the files that it changes are counted. What is
judged is one value of the new thing against a worse one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from observatory.run.environments import Environment
from tests.docs_examples import ROOT, Block, Runner, blocks, copy_of_checkout, measured_subjects
from tests.integration.conftest import lend

MINUTES = 20
"""For one script: another run may be measuring on this machine, and is waited for."""
_PACKAGES = ("benchmarks", "observatory", "dashboard")
_JUDGE = """
import json, sys
from observatory.benchmarks.catalogue import Cell
from observatory.text.causes import cause_sentence
from observatory.text.comparison.sections import advice_on
from observatory.analyze.comparison.causes import explained
from observatory.analyze.comparison.evidence import Evidence
from observatory.analyze.comparison.noise_floors import NoiseFloors
from observatory.analyze.comparison.verdicts import judge_exact
from observatory.analyze.statements import Sides
from tests import factories

words, metric = sys.argv[1].split(), sys.argv[2]
cell = Cell(*words)
assert cell.problem() is None, cell.problem()
sides = [
    Evidence.of([factories.sample(cell, measure="counting", metrics={metric: value})])
    for value in (1_000_000, 3_000_000)
]
causes, verdicts = explained(judge_exact([cell], *sides, NoiseFloors()).verdicts, *sides)
(found,) = [one for one in verdicts if one.metric == metric]
told = {one.kind: [cause_sentence(one, Sides()), bool(advice_on(one.kind))] for one in causes}
print(json.dumps({"conclusion": found.conclusion, "causes": told}))
"""


@dataclass(frozen=True)
class Page:
    """What a page adds, and what proves that it is there."""

    name: str
    most_files: int
    """Files that are written or changed by hand."""
    cell: str
    """A cell to judge, in words."""
    metric: str
    shown: tuple[tuple[str, str], ...]
    """Files of the site, each with a text that must be in it."""

    @property
    def blocks(self) -> list[Block]:
        return blocks(self.file)

    @property
    def file(self) -> str:
        """The page, by its path below docs/."""
        return f"how-to/add-a-{self.name}.md"


PAGES = {
    page.name: page
    for page in (
        Page(
            "model", 1, "sorting cold NUMBA spawn", "wrong_results",
            (("matrix.html", "sorting"), ("words.html", "sorting, one operation a graph")),
        ),
        Page(
            "backend", 4, "radon call VM fork", "wrong_results",
            (("matrix.html", "b-vm"), ("assets/style.css", ".b-vm{--of:var(--vm);}")),
        ),
        Page(
            "scenario", 3, "radon warm_again C fork", "cache_misses",
            (("matrix.html", "warm_again"), ("words.html", "third build in one process")),
        ),
        Page(
            "metric", 2, "radon cold C fork", "threads_left",
            (("data/index.js", '"threads_left"'),),
        ),
        Page("cause", 2, "radon cold C fork", "retained_bytes", ()),
    )
}  # fmt: skip


def files_of(page: Page) -> set[str]:
    """The files that a page writes or changes."""
    found = set()
    for block in page.blocks:
        if block.parts and block.parts["file"]:
            found.add(block.parts["file"])
        elif block.parts and block.parts["applies"]:
            lines = block.text.splitlines()
            found |= {line.removeprefix("+++ b/") for line in lines if line.startswith("+++ ")}
    return found


@pytest.mark.parametrize("page", PAGES.values(), ids=list(PAGES))
def test_few_files_change(page: Page) -> None:
    assert 0 < len(files_of(page)) <= page.most_files


@pytest.fixture
def runner(
    page: Page, tmp_path: Path, newest: Environment, environment_of: Callable[..., Environment]
) -> Runner:
    """A copy of the checkout, which runs in place of this one."""
    checkout = copy_of_checkout(tmp_path / "checkout", _PACKAGES)
    subjects = measured_subjects(page.file)
    lend(checkout / ".observatory", *(map(environment_of, subjects) if subjects else [newest]))
    paths = os.pathsep.join(map(str, (checkout, ROOT)))  # of ROOT: the factories of the tests
    return Runner(checkout, {"PYTHONPATH": paths}, timeout=60.0 * MINUTES)


@pytest.mark.integration
@pytest.mark.parametrize("page", PAGES.values(), ids=list(PAGES))
def test_what_a_page_adds_is_measured_judged_and_shown(page: Page, runner: Runner) -> None:
    measured = skipped = False
    for block in page.blocks:
        if not block.parts or block.parts["not_run"]:
            continue
        if block.parts["run"]:
            skipped = "pytest" in block.text  # the unit tests run these
            measured = measured or block.measures
        if not (skipped and (block.parts["run"] or block.parts["prints"])):
            runner.carry_out(block)
    judged = json.loads(told(runner, "-c", _JUDGE, page.cell, page.metric))
    assert judged["conclusion"] == "worse"
    if page.name == "cause":
        assert list(judged["causes"]) == ["memory is kept"]
        assert all(sentence and advice for sentence, advice in judged["causes"].values())
    if measured:
        told(runner, "-m", "observatory", "dashboard", "--results", "mine", "--out", "html")
        for name, text in page.shown:
            assert text in (runner.where / "html" / name).read_text(), name


def told(runner: Runner, *arguments: str) -> str:
    """What Python prints in the copy."""
    done = subprocess.run(
        [sys.executable, *arguments], cwd=runner.where, env={**os.environ, **runner.env},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout
