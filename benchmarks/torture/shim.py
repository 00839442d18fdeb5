"""The stand-in for a broken disk: a library of our own that is put in front of the C library.

A fault that must strike at one exact call, such as the third write of a store, cannot be made with
files. `shim.c` is compiled where it is used, and preloaded into the process that measures; there a
`Rule` says which calls below the cache fail, or where the process stops or is killed.
"""

from __future__ import annotations

import ctypes
import errno
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).with_name("shim.c")
LIBRARY = "torture-shim.so"
_COMPILERS = ("gcc", "cc", "clang")

# The same numbers as in shim.c.
READS, CHANGES, WRITES, RENAMES, OPENS, LISTS, LOCKS, OVER, DELETES, REFUSALS = (
    1 << bit for bit in range(10)
)
EVERY_CHANGE = CHANGES | DELETES
"""A full disk refuses CHANGES, which need room: deleting succeeds, and so does access(2)."""
_ACTIONS = {"count": 0, "fail": 1, "kill": 2, "stop": 3, "part": 4}


class NoShim(Exception):
    """Raised where the stand-in cannot be had; the message says why."""


@dataclass(frozen=True)
class Rule:
    """What happens to the calls that a process makes below the cache."""

    kinds: int = CHANGES
    """Which calls count: READS, CHANGES, ..., added up."""
    action: str = "count"
    """`count` nothing happens; `fail` with an error; `part` writes half, for a write; `stop` the
    process at the call, until somebody continues it; `kill` it."""
    error: int = errno.ENOSPC
    first: int = 1
    """The first call that is hit, counted from 1."""
    last: int = 0
    """The last one; 0: every one from the first on."""
    clock: int = 0
    """Seconds by which the clock of the process is set forward."""

    def at(self, number: int, *, only: bool) -> Rule:
        """Return the rule for the call of that number: only that one, or every one from it on."""
        last = number if only else 0
        return Rule(self.kinds, self.action, self.error, number, last, self.clock)


def build(directory: Path) -> Path:
    """Compile the library in a directory and return its path. Raises NoShim."""
    compiler = next(filter(None, map(shutil.which, _COMPILERS)), None)
    if compiler is None:
        raise NoShim(f"no C compiler was found: {', '.join(_COMPILERS)}")
    library = directory / LIBRARY
    command = [compiler, "-O1", "-w", "-shared", "-fPIC", "-o", str(library), str(SOURCE), "-ldl"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        first = (done.stderr.strip().splitlines() or ["it said nothing"])[0]
        raise NoShim(f"{compiler} could not compile the stand-in for a broken disk: {first[:300]}")
    return library


def is_loaded() -> bool:
    """Whether the library is in front of the C library in this process."""
    return hasattr(ctypes.CDLL(None), "torture_arm")


def arm(rule: Rule, directory: Path) -> None:
    """Let a rule hold in this process for calls below a directory. Raises NoShim."""
    if not is_loaded():
        raise NoShim("the stand-in for a broken disk is not loaded in this process")
    library = ctypes.CDLL(None)
    library.torture_clock(ctypes.c_long(rule.clock))
    library.torture_arm(
        str(directory).encode(), rule.kinds, _ACTIONS[rule.action], rule.error,
        ctypes.c_long(rule.first), ctypes.c_long(rule.last),
    )  # fmt: skip


def disarm() -> int:
    """Let no rule hold any more in this process; return how many calls the last one counted."""
    if not is_loaded():
        return 0
    library = ctypes.CDLL(None)
    library.torture_seen.restype = ctypes.c_long
    seen = int(library.torture_seen())
    library.torture_arm(b"/", 0, 0, 0, ctypes.c_long(1), ctypes.c_long(0))
    library.torture_clock(ctypes.c_long(0))
    return seen
