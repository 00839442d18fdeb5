"""Follow each how-to that adds something, as it is written, and run `make lint test` after it.

    .venv/bin/python scripts/try_how_tos.py               # all seven, unit tests only: 15 minutes
    .venv/bin/python scripts/try_how_tos.py --only model  # one of them
    .venv/bin/python scripts/try_how_tos.py --whole       # with the integration and browser tests

Each page is followed in a copy of the checkout. `tests/integration/test_adding.py` carries out the
measuring steps of the pages; this says whether what they add passes everything else.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.docs_examples import ROOT, Runner, blocks

PAGES = ("model", "backend", "scenario", "metric", "cause", "command", "page")
_UNIT = '-m "not integration" tests/unit'
_FOLLOWS = "test_examples_do_what_the_page_says"
_SHOWN = 15
"""Lines of what failed."""


def main() -> int:
    """Follow the pages; return how many of them break something."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", action="append", choices=PAGES, help="only this page; repeatable")
    parser.add_argument("--whole", action="store_true", help="run every test, which takes long")
    given = parser.parse_args()
    return sum(not followed(page, given.whole) for page in given.only or PAGES)


def followed(page: str, whole: bool) -> bool:
    """Whether `make lint test` passes in a copy in which the page was followed."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="how-to-") as directory:
        copy = Path(directory) / "observatory"
        copied(copy)
        runner = Runner(copy)
        for block in blocks(f"how-to/add-a-{page}.md"):
            if block.parts and (block.parts["file"] or block.parts["applies"]):
                runner.carry_out(block)
        # The tool's environment is borrowed: it must not be installed anew for the copy.
        make = ["make", "--old-file=.venv/.ready", "docs", "lint", "test"]
        # The test that follows the page would add the same thing a second time.
        twice = f"tests/unit/docs/test_examples.py::{_FOLLOWS}[how-to/add-a-{page}.md]"
        make += [f"PYTEST_ARGS=--deselect '{twice}' {'' if whole else _UNIT}"]
        done = subprocess.run(
            make,
            cwd=copy,
            env={**os.environ, "PYTHONPATH": str(copy)},
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
    passed = done.returncode == 0
    print(f"add a {page}: {'passes' if passed else 'BREAKS'} {time.monotonic() - began:.0f} s",
          flush=True)  # fmt: skip
    if not passed:
        print(*done.stdout.splitlines()[-_SHOWN:], sep="\n", flush=True)
    return passed


def copied(copy: Path) -> None:
    """Copy what git knows of the checkout, and borrow the tool's environment."""
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\0")
    for name in filter(None, names):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, copy / name, follow_symlinks=False)
    (copy / ".venv").symlink_to(ROOT / ".venv")


if __name__ == "__main__":
    sys.exit(main())
