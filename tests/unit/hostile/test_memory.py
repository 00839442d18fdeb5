"""Contents of many values, keys, lines or letters: no reader grows by more than its budget."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bounded import BUDGET
from tests.hostile.surfaces import SURFACES

pytestmark = pytest.mark.long
ROOT = Path(__file__).parents[3]


def test_no_reader_of_strangers_contents_takes_more_than_the_budget() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.hostile.memory"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert found.keys() == SURFACES.keys()
    cases = [(megabytes, surface, content, ending) for surface, contents in found.items()
             for content, (megabytes, ending) in contents.items()]  # fmt: skip
    assert [case for case in cases if case[3] not in ("read", "refused")] == []
    assert [case for case in cases if case[0] > BUDGET] == []
