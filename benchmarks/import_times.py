"""What importing PyTensor and numba takes, module by module: by `python -X importtime`."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping

from . import process
from .profiles import ImportedModule
from .sandbox import Sandbox

ROOTS = ("pytensor.tensor", "numba")
"""The modules that `benchmarks.importing` imports; what the interpreter imports is left out."""
_LINE = re.compile(r"import time:\s*(\d{1,15}) \|\s*\d{1,15} \| ((?:  )*)(\S.*)", re.ASCII)
_LONGEST, _MOST = 200, 5000


def take(box: Sandbox, env: Mapping[str, str], timeout: float) -> tuple[ImportedModule, ...]:
    """Import once more, in a process of its own; empty where it failed. Raises OSError."""
    output = box.out / "importing.txt"
    ended = process.supervise(
        ("benchmarks.importing",), box.work, env, output, timeout, role="importing",
        interpreter=(sys.executable, "-X", "importtime"),
    )  # fmt: skip
    if ended.code != 0 or ended.timed_out:
        return ()
    return imported(output.read_text(encoding="utf-8", errors="replace"))


def imported(text: str) -> tuple[ImportedModule, ...]:
    """Return each module before those that it imports, from what the interpreter wrote.

    Other lines are left out. Python writes a module after those that it imports; where the text
    ends too early, these are left out too.
    """
    found = []
    root = ""
    for line in reversed(text.split("\n")):
        if read := _LINE.fullmatch(line.rstrip("\r")):
            own, indent, name = read.groups()
            depth = len(indent) // 2
            root = name if depth == 0 else root
            if root in ROOTS:
                found.append(ImportedModule(name[:_LONGEST], depth, int(own) / 1_000_000))
    return tuple(found[:_MOST])
