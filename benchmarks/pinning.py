"""What the pass `work` pins, so that counts of instructions repeat, here and on other machines.

Address layout, hash seed, the CPU that code is made for and the paths of files all decide how many
instructions a build executes. docs/explanation/counts-repeat.md has the spread that each causes.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from . import trace
from .catalogue import SCENARIOS, Cell
from .messages import Counter
from .probes.instructions import CLIENT_SOURCE, open_hardware_counter
from .sandbox import ROOT

SEED = 1
"""The hash seed of every process of this pass."""
INHERITED = frozenset((
    "PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH",
    "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "VALGRIND_LIB", trace.VARIABLE,
))  # fmt: skip
"""The variables that the processes of this pass inherit: what finds and runs a compiler, and the
trace. Each further one moves the stack, and with it the order of sets."""
_PADDING, _BLOCK = "OBSERVATORY_PADDING", 8192
_PREFIX, _BENCHMARKS = "environment", "root"
_MODERN = frozenset(("avx2", "bmi2", "fma"))
_LLVM_TARGETS = {"aarch64": "generic", "x86_64": "nehalem"}
_NO_AVX512 = (
    "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR "
    "X86_V4"  # newer NumPy: in place of the first five
)


@dataclass(frozen=True)
class Pins:
    """How the processes of a sample of this pass run."""

    target: str
    """The CPU that machine code is made for."""
    fixed_addresses: tuple[str, ...]
    """The command that switches the randomisation of addresses off; empty where it cannot."""
    counter: Counter | None
    problem: str
    """Why nothing counts instructions; empty: something does."""
    valgrind: str = ""

    @property
    def source(self) -> str | None:
        """What counts, in words; counts of two sources are never compared. None: nothing does."""
        if self.counter is None:
            return None
        # Importing it would take a sixth of the time of `python -m benchmarks.sample --help`.
        from .environment import processor

        where = "" if self.counter.source == "callgrind" else f" ({processor()})"
        # They are another series: addresses decide the order of sets, and so what is executed.
        moving = "" if self.fixed_addresses else ", random addresses"
        return f"{self.counter.source}{where}, code for {self.target}{moving}"

    def variables(self, directory: Path) -> dict[str, str]:
        """Return the environment variables that choose the same code on every machine.

        ``directory``: the one that `inside` prepared.
        """
        found = {
            "PYTHONPATH": str(directory / _BENCHMARKS),
            "NUMBA_CPU_NAME": self.target,
            "NUMBA_CPU_FEATURES": "",
        }
        if platform.machine() == "x86_64":
            found |= {
                "NPY_DISABLE_CPU_FEATURES": _NO_AVX512,
                "OPENBLAS_CORETYPE": self.target,
                "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-ERMS,-FSRM",
            }
        return found

    def padded(self, environment: dict[str, str]) -> dict[str, str]:
        """Return the environment with a variable that gives it the same size on every machine.

        The kernel copies it onto the stack, whose addresses follow from its size.
        """
        used = sum(len(os.fsencode(f"{name}={value}")) + 1 for name, value in environment.items())
        free = -(used + len(_PADDING) + 2) % _BLOCK
        return {**environment, _PADDING: "." * free}

    def flags(self) -> str:
        """Return the PYTENSOR_FLAGS that make gcc compile for the same CPU."""
        return "" if platform.machine() != "x86_64" else f"gcc__cxxflags=-march={self.target}"

    def interpreter(self, directory: Path, counting: bool) -> tuple[str, ...]:
        """Return the command that starts Python. ``counting``: callgrind counts, if it is to."""
        python = sys.executable
        if sys.prefix != sys.base_prefix:  # only a virtual environment can be moved by a link
            python = str(directory / _PREFIX / Path(python).relative_to(sys.prefix))
        if not counting or self.counter is None or self.counter.source == "hardware":
            return (*self.fixed_addresses, python)
        return (
            *self.fixed_addresses, self.valgrind, "--tool=callgrind", "--instr-atstart=no",
            "--quiet", "--dump-line=no", f"--callgrind-out-file={self.counter.counts}.%p", python,
        )  # fmt: skip

    def inside(self, directory: Path) -> Pins:
        """Return the same for one sandbox: its links, and callgrind's files and library in it.

        Packages and benchmarks get the same paths in every sandbox, as the names of files are
        hashed. Raises OSError or CalledProcessError if the library cannot be compiled.
        """
        (directory / _PREFIX).symlink_to(sys.prefix)
        (directory / _BENCHMARKS).symlink_to(ROOT)
        if self.counter is None or self.counter.source == "hardware":
            return self
        library = directory / "client.so"
        source = library.with_suffix(".c")
        source.write_text(CLIENT_SOURCE)
        compiler = _compiler() or "cc"
        subprocess.run(
            [compiler, "-O1", "-shared", "-fPIC", "-o", str(library), str(source)],
            check=True, capture_output=True,
        )  # fmt: skip
        return replace(
            self, counter=replace(self.counter, library=library, counts=directory / "callgrind")
        )


@cache
def find() -> Pins:
    """Return what this machine can pin and count with: hardware first, then callgrind."""
    target = _target()
    fixed = _fixed_addresses()
    try:
        os.close(open_hardware_counter())
        return Pins(target, fixed, Counter("hardware", target), "")
    except OSError as error:
        no_hardware = str(error)
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        missing = "valgrind is not installed (Debian and Ubuntu: apt install valgrind)"
    elif not _compiles():
        missing = (
            "no C compiler here compiles valgrind's header valgrind/callgrind.h "
            "(Debian and Ubuntu: apt install gcc valgrind)"
        )
    else:
        counter = Counter("callgrind", target, steady=_has_names())
        return Pins(target, fixed, counter, "", valgrind)
    problem = (
        f"nothing counts instructions here: no hardware counter ({no_hardware}), and {missing}"
    )
    return Pins(target, fixed, None, problem)


def _has_names() -> bool:
    """Whether callgrind can tell Python's own functions apart: a stripped one has no names."""
    files = {Path(sys.executable).resolve()}
    with contextlib.suppress(OSError):
        lines = Path("/proc/self/maps").read_text(errors="replace").splitlines()
        files |= {Path(one.split(maxsplit=5)[5]) for one in lines if "/libpython" in one}
    return any(map(_names, files))


def _names(file: Path) -> bool:
    """Whether a program or library names a function that is no part of Python's interface."""
    with (
        contextlib.suppress(OSError, ValueError),  # it may be empty
        file.open("rb") as stream,
        mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        return content.find(b"\0set_lookkey") >= 0
    return False


def problem(cell: Cell) -> str:
    """Why this machine gives no instructions of a cell; empty if it does."""
    pins = find()
    empty = SCENARIOS[cell.scenario].from_empty
    if pins.counter is not None and pins.counter.source == "callgrind" and empty:
        return "building from an empty cache under callgrind takes many minutes"
    return pins.problem


def _compiler() -> str | None:
    return next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)


def _compiles() -> bool:
    """Whether there is a compiler for the client requests, and their header."""
    compiler = _compiler()
    if compiler is None:
        return False
    tried = subprocess.run(
        [compiler, "-fsyntax-only", "-x", "c", "-"],
        input=CLIENT_SOURCE, text=True, capture_output=True, check=False,
    )  # fmt: skip
    return tried.returncode == 0


def _target() -> str:
    machine = platform.machine()
    if machine == "x86_64":
        try:
            flags = next(
                line for line in Path("/proc/cpuinfo").read_text().splitlines()
                if line.startswith("flags")
            )  # fmt: skip
        except (OSError, StopIteration):
            flags = ""
        if set(flags.split()) >= _MODERN:
            return "haswell"
    return _LLVM_TARGETS.get(machine, "generic")


def _fixed_addresses() -> tuple[str, ...]:
    """`setarch` without randomisation, where a container lets us."""
    setarch = shutil.which("setarch")
    if setarch is None:
        return ()
    command = (setarch, platform.machine(), "-R")
    tried = subprocess.run([*command, "true"], capture_output=True, check=False)
    return command if tried.returncode == 0 else ()


if __name__ == "__main__":
    # What counts, on stdout, or why nothing does, on stderr.
    print(find().source or "", end="")
    sys.exit(find().problem or 0)
