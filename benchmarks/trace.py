"""A log of what the processes of a sample did, for the tests that prove its isolation.

Every process of a sample appends lines of JSON to one file, if an environment variable names it.
Appending one short line is atomic, so that the lines of several processes never mix.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

VARIABLE = "OBSERVATORY_TRACE"


def event(name: str, **details: object) -> None:
    """Append one event, with the process and the heavy packages that it has imported.

    ``details``: further fields, which JSON can hold. Does nothing where no file is named. Raises
    OSError if the file cannot be written.
    """
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
