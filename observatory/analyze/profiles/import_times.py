"""What an import took, module by module: the output of `python -X importtime` as stacks."""

from __future__ import annotations

import re
from collections.abc import Iterator

_LINE = re.compile(r"import time:\s*(\d{1,15}) \|\s*\d{1,15} \| ((?:  )*)(\S.*)", re.ASCII)


def import_stacks(text: str) -> Iterator[tuple[tuple[str, ...], float]]:
    """Return each module as the chain of modules that imported it, with its own seconds.

    ``text`` is what was written to standard error. Other lines are left out. Python writes a
    module after those that it imports; where the text ends too early, these come without it.
    """
    importers: list[str] = []
    found = []
    for line in reversed(text.split("\n")):
        if read := _LINE.fullmatch(line.rstrip("\r")):
            own, indent, name = read.groups()
            del importers[len(indent) // 2 :]
            importers.append(name)
            found.append((tuple(importers), int(own) / 1_000_000))
    return reversed(found)
