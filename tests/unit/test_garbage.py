"""A process that does one command looks for garbage seldom, and not as it ends."""

from __future__ import annotations

import subprocess
import sys

_CYCLE = """
class Cycle:
    def __init__(self):
        self.itself = self
    def __del__(self, say=print):
        say("found")
kept = Cycle()
"""


def said_at_its_end(*lines: str) -> str:
    """What a process prints as Python ends, if it has a cycle of objects."""
    script = "\n".join([*lines, _CYCLE])
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return done.stdout


def test_cycles_are_not_looked_for_at_the_end() -> None:
    assert said_at_its_end() == "found\n"  # so that this test can fail
    little = "from observatory.garbage import collect_little"
    assert said_at_its_end(little, "collect_little()") == ""
