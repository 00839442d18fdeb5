"""What counts instructions on this machine, as the package that takes samples says."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Counter:
    """What the pass `work` counts with here: a source, or else a problem."""

    source: str
    """What counts, and the CPU that code is made for; empty if nothing does."""
    problem: str
    """Why nothing counts, as half a sentence; empty if something does."""


@cache
def find() -> Counter:
    """Return what counts here. It takes a tenth of a second."""
    # -P: in a workflow, a directory of the same name may be where it starts.
    command = [sys.executable, "-P", "-m", "observatory.benchmarks.pinning"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    source = done.stdout.strip()
    problem = " ".join(done.stderr.split())[:1000] or "nothing counts instructions here"
    return Counter(source, "" if source else problem)
