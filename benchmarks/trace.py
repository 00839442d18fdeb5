"""A trace of what a sample did, for the tests that prove its isolation.

Every process of a sample appends lines to one file, if the environment names it. Appends of one
short line are atomic, so the lines of several processes never mix.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

VARIABLE = "OBSERVATORY_TRACE"


def event(name: str, **details: object) -> None:
    """Append one event, with the process and which heavy packages it has imported."""
    path = os.environ.get(VARIABLE)
    if not path:
        return
    line = {
        "event": name,
        "pid": os.getpid(),
        "parent": os.getppid(),
        "time": time.monotonic(),
        "imported": [p for p in ("numpy", "pytensor", "numba", "pymc") if p in sys.modules],
        **details,
    }
    with Path(path).open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(line) + "\n")
