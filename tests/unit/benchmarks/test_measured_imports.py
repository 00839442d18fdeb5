"""What the measured process imports beside the subject: it changes what the subject executes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
SHIFTING = ("decimal", "statistics")
"""With `decimal`, which `statistics` imports, builds with C_VM take 0.25 % fewer instructions."""


def test_the_measured_process_imports_nothing_that_shifts_the_counts_of_instructions() -> None:
    asked = "import sys, benchmarks.child; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", asked], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert set(done.stdout.split()).isdisjoint(SHIFTING)
