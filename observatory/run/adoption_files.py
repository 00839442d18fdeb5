"""The workflow files that a project gets: one, and a second one if pull requests are compared.

GitHub allows no workflow to listen to itself, and what runs the code of a pull request must have no
rights. So the comment is written by another workflow than the one that compares.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from observatory.run.adoption import MARKER, PAGES_BRANCH, WORKFLOWS, Project
from observatory.run.tool_version import Tool

PARTS = {
    "compare": "compares a pull request that is labelled, and comments",
    "nightly": "measures the new commits every night",
    "benchmarks": "runs the project's own benchmarks: pytest-benchmark after each push, asv every "
    "night",
    "numba-bound": "proposes a newer upper bound of numba every week",
}
"""What can be set up, by the words of `--only`."""
LABEL = "run-benchmark"
RESULTS_BRANCH = "observatory-results"
_NIGHT, _WEEK = "41 1 * * *", "23 5 * * 1"


@dataclass(frozen=True)
class File:
    """A file to write."""

    path: Path
    """The path within the repository."""
    text: str
    """Its content, with line ends as on Linux."""


def parts_for(project: Project) -> dict[str, str]:
    """Return every part with why the project does not get it by default; empty if it does."""
    no = dict.fromkeys(PARTS, "")
    if not project.is_pytensor:
        no |= dict.fromkeys(("compare", "nightly", "numba-bound"), "the project is not PyTensor")
    elif not project.bounds_numba:
        no["numba-bound"] = "pyproject.toml does not require numba"
    elif project.bumps_numba:
        no["numba-bound"] = f"{project.bumps_numba} raises the upper bound of numba already"
    if project.tests is None and project.asv is None:
        no["benchmarks"] = "there is no test that uses pytest-benchmark, and no asv.conf.json"
    return no


def files_for(
    project: Project, tool: Tool, parts: Collection[str], store: str = ""
) -> list[File]:  # fmt: skip
    """Return the files for some parts; none if there are none.

    ``store``: the address of an object store that has the results instead of a branch.
    """
    if not parts:
        return []
    has_tests = "benchmarks" in parts and project.tests is not None
    has_asv = "benchmarks" in parts and project.asv is not None
    measuring = {"commits": "nightly" in parts, "benchmarks": has_tests, "asv": has_asv}
    pages, link = pages_of(project)
    second = "observatory-pull-request.yml"
    words = {
        "marker": MARKER, "tool": tool, "project": project, "label": LABEL, "night": _NIGHT,
        "week": _WEEK, "branch": RESULTS_BRANCH, "store": store, "pages": pages, "link": link,
        "compare": "compare" in parts, "nightly": "nightly" in parts, "benchmarks": has_tests,
        "asv": has_asv, "numba_bound": "numba-bound" in parts, "pull_request_file": second,
        "measuring": [name for name, wanted in measuring.items() if wanted],
    }  # fmt: skip
    names = ["observatory.yml", *([second] if "compare" in parts else [])]
    return [
        File(
            Path(WORKFLOWS, name),
            _environment().get_template(f"{name}.j2").render(words).rstrip() + "\n",
        )
        for name in names
    ]


def pages_of(project: Project) -> tuple[str, str]:
    """Return the branch that pages are committed to, with a path, and the address that they get.

    Both are empty if they may be deployed, because the project has no site on GitHub Pages.
    """
    if project.site is None:
        return "", ""
    if not project.site.branch:
        return "observatory-pages", ""
    owner, _, name = project.repository.partition("/")
    link = f"https://{owner.lower()}.github.io/{name}/observatory/" if owner else ""
    return f"{PAGES_BRANCH}:observatory", link


@lru_cache(maxsize=1)
def _environment() -> Environment:
    """Blocks and variables have other marks than those of GitHub's expressions."""
    return Environment(
        loader=PackageLoader("observatory"), undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, keep_trailing_newline=True, autoescape=False,  # noqa: S701 - YAML
        block_start_string="<%", block_end_string="%>", variable_start_string="<<",
        variable_end_string=">>",
    )  # fmt: skip
