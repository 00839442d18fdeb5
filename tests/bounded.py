"""A command in a process of its own whose memory is bounded: what it took, and how it ended."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

BUDGET = 200
"""MB that a command may take at most for content from strangers, with all that it imports."""
_GUARD = 2048
"""MB of address space: a command that ignores the budget ends here, and not the machine."""
_RUN = """
import atexit, resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({guard}, {guard}))
def peak():
    lines = open("/proc/self/status").read().splitlines()
    kilobytes = next(line.split()[1] for line in lines if line.startswith("VmHWM"))
    print("PEAK", kilobytes, file=sys.__stderr__, flush=True)
atexit.register(peak)
from observatory.cli.main import main
main()
"""


@dataclass(frozen=True)
class Ended:
    """How a command ended. ``megabytes``: the most that its process had in memory at once."""

    code: int
    out: str
    err: str
    megabytes: float


def bounded(*arguments: str | Path, cwd: Path | None = None) -> Ended:
    """Run a command of the observatory and measure its memory."""
    code = _RUN.format(guard=_GUARD * 2**20)
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True, check=False, cwd=cwd, env=None,
    )  # fmt: skip
    out, err = (text.decode(errors="backslashreplace") for text in (done.stdout, done.stderr))
    err, _, peak = err.rpartition("PEAK ")
    return Ended(done.returncode, out, err, int(peak or 0) / 1024)
