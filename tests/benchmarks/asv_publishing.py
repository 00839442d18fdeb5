"""All of `asv publish`, its pages and its detection of steps; the other side of test_pages.py.

    python asv_publishing.py update|publish RESULTS SCRATCH

Asv's own code over a copy of the results; the repository is a stand-in that answers at once, so
that no time of git's is counted as asv's. `update` is a run of its own: it is not measured.
"""

from __future__ import annotations

import sys
from pathlib import Path

from asv.commands import publish
from asv.commands.update import Update
from asv.config import Config

from tests.benchmarks.asv_loading import StandIn


class Answering(StandIn):
    """What publishing asks for besides."""

    def get_range_spec(self, first: str, last: str) -> str:
        return f"{first}..{last}"

    def get_new_range_spec(self, first: str, last: str) -> str:
        return f"{first}..{last}"

    def get_hashes_from_range(self, spec: str) -> list[str]:
        first, last = (self._commits.index(commit) for commit in spec.split(".."))
        return self._commits[first + 1 : last + 1]

    def get_date(self, commit: str) -> int:
        return 1_700_000_000_000 + self._commits.index(commit)


def main(what: str, results: str, scratch: str) -> int:
    """Update the results, or publish them; returns how many files were published."""
    conf = Config.from_json(
        {"results_dir": results, "html_dir": f"{scratch}/html", "project": "x", "repo": "."}
    )
    publish.get_repo = lambda _: Answering()
    if what == "update":
        Update.run(conf, _machine_file=f"{scratch}/asv-machine.json")
        return 0
    publish.Publish.run(conf)
    return sum(path.is_file() for path in Path(scratch, "html").rglob("*"))


if __name__ == "__main__":
    print(main(*sys.argv[1:]))
