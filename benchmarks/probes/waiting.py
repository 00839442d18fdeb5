"""Functions that wait for another process: how often they are entered depends on the machine.

The first build of a process with C modules asks the compiler for its version and paths. Python
reads the answer piece by piece, in as many pieces as the compiler had time to write: of one
subject, 0.5 % of all calls of the build came and went with the load.
"""

from __future__ import annotations

import selectors
import subprocess
from collections.abc import Iterator
from types import FunctionType

_IN_LOOPS = ("_remaining_time", "_check_timeout")
"""What `Popen.communicate` calls for each piece, beside a selector."""


def _functions() -> Iterator[FunctionType]:
    for one in vars(selectors).values():
        if isinstance(one, type) and one.__module__ == selectors.__name__:
            yield from (each for each in vars(one).values() if isinstance(each, FunctionType))
    yield from filter(None, (vars(subprocess.Popen).get(name) for name in _IN_LOOPS))


WAITING = frozenset(id(function.__code__) for function in _functions())
"""The ids of their code objects, which live as long as the modules: hashing code takes longer."""
