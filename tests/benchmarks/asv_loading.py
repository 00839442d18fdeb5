"""All that asv does until it has every result in memory; the other side of test_loading.py.

    python asv_loading.py RESULTS SCRATCH

Asv's own code: `asv update`, then `asv publish` until its graphs hold the values and
it would begin to detect steps. What else publishing does is left out: no page is written. The
repository is a stand-in that answers at once, so that no time of git's is counted as asv's.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from asv.commands import publish
from asv.commands.update import Update
from asv.config import Config
from asv.graph import GraphSet


class Loaded(Exception):
    """Every value is in a graph."""


class StandIn:
    """A repository whose one branch is the commits that have results."""

    def __init__(self) -> None:
        self._commits: list[str] = []

    def pull(self) -> None:
        """There is nothing to pull from."""

    def get_tags(self) -> dict[str, str]:
        return {}

    def get_revisions(self, commits: Iterable[str]) -> dict[str, int]:
        self._commits = sorted(commits)
        return {commit: number for number, commit in enumerate(self._commits)}

    def get_branch_commits(self, branch: str | None) -> list[str]:
        return self._commits

    def get_branch_name(self, branch: str | None = None) -> str:
        return branch or "main"


def main(results: str, scratch: str) -> int:
    """Load a results directory; returns how many values the graphs hold."""
    conf = Config.from_json(
        {"results_dir": results, "html_dir": f"{scratch}/html", "project": "x", "repo": "."}
    )
    values = 0

    def count(graphs: GraphSet, *_: Any, **__: Any) -> None:
        nonlocal values
        values = sum(len(points) for _, graph in graphs for points in graph.data_points.values())
        raise Loaded

    publish.get_repo = lambda _: StandIn()
    publish.shutil.copytree = lambda _, target, **__: Path(target).mkdir()
    GraphSet.detect_steps = count
    Update.run(conf, _machine_file=f"{scratch}/asv-machine.json")
    try:
        publish.Publish.run(conf)
    except Loaded:
        return values
    raise AssertionError("asv publish did not come to its steps")


if __name__ == "__main__":
    print(main(*sys.argv[1:]))
