"""Fixed pieces of work whose times say how fast a machine is: `python -m benchmarks.sentinel`.

This runs in a kept environment under test and prints one JSON object: seconds by piece, and what
the system is. No piece ever changes: a change would look like one of the machine. `interpreter` is
pure Python, `arrays` is NumPy, `machine_code` is compiled C, and `compiler` is what compiles it.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from .parent import end_with_parent

# A BLAS reads them when it is loaded; with more threads, load would look like another machine.
os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

import numpy as np

ROUNDS = 15
"""Times of each piece; of the compiler a third."""
_SOURCE = """
double work(long rounds) {
    double sum = 0.0;
    unsigned long state = 88172645463325252UL;
    for (long i = 0; i < rounds; i++) {
        state ^= state << 13; state ^= state >> 7; state ^= state << 17;
        sum += (double)(state >> 11) / (1.0 + (double)(i & 1023));
    }
    return sum;
}
"""
_CPU = Path("/sys/devices/system/cpu")


def interpreter() -> int:
    """Run dictionaries, strings and calls: some tens of milliseconds."""
    words: dict[str, int] = {}
    for number in range(150_000):
        word = f"name_{number % 977}"
        words[word] = words.get(word, 0) + len(word)
    return sum(sorted(words.values(), key=lambda value: -value))


def arrays() -> float:
    """Sort and multiply arrays: some tens of milliseconds."""
    drawn = np.random.default_rng(1).standard_normal((480, 480))
    return float(np.sort(drawn, axis=0).sum() + (drawn @ drawn.T @ drawn).sum())


def timed(piece: Callable[[], object], rounds: int) -> list[float]:
    """Return the seconds of each call, after one that is not counted."""
    piece()
    found = []
    for _ in range(rounds):
        began = time.perf_counter()
        piece()
        found.append(time.perf_counter() - began)
    return found


def compiled(place: Path) -> dict[str, list[float]]:
    """Return the seconds of compiling the C code and of running it; empty without a compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return {}
    source, library = place / "work.c", place / "work.so"
    source.write_text(_SOURCE, encoding="utf-8")
    command = [compiler, "-O2", "-shared", "-fPIC", "-o", str(library), str(source)]

    def compiling() -> None:
        subprocess.run(command, check=True, capture_output=True)

    found = {"compiler": timed(compiling, ROUNDS // 3)}
    work = ctypes.CDLL(str(library)).work
    work.argtypes, work.restype = [ctypes.c_long], ctypes.c_double
    return {**found, "machine_code": timed(lambda: work(20_000_000), ROUNDS)}


def system() -> dict[str, str]:
    """Return what the system is, as far as it says so."""
    found = {"kernel": platform.release(), "libc": " ".join(platform.libc_ver())}
    first = _text(Path("/proc/cpuinfo")).partition("\n\n")[0]
    fields = dict(line.split(":", 1) for line in first.splitlines() if ":" in line)
    known = {name.strip(): value.strip() for name, value in fields.items()}
    governors = {_text(one).strip() for one in _CPU.glob("cpu*/cpufreq/scaling_governor")}
    found |= {
        "cpu": known.get("model name", ""), "microcode": known.get("microcode", ""),
        "governor": " ".join(sorted(governors)),
        "memory": _text(Path("/proc/meminfo")).partition("\n")[0].removeprefix("MemTotal:").strip(),
    }  # fmt: skip
    if (cc := shutil.which("cc")) is not None:
        told = subprocess.run([cc, "--version"], check=False, capture_output=True, text=True)
        found["compiler"] = told.stdout.partition("\n")[0]
    return {name: value[:200] for name, value in found.items() if value}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def main() -> int:
    """Take the times of every piece and print them; return the exit status 0."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # the block is left
    end_with_parent(signal.SIGTERM)
    with tempfile.TemporaryDirectory(prefix="fixed-work-") as place:
        times = {
            "interpreter": timed(interpreter, ROUNDS), "arrays": timed(arrays, ROUNDS),
            **compiled(Path(place)),
        }  # fmt: skip
    json.dump({"times": times, "system": system()}, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
