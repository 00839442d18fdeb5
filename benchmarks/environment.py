"""The environment of the measured process: versions, compilers and machine, all as strings."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from functools import cache
from pathlib import Path

_PACKAGES = ("pytensor", "numba", "llvmlite", "numpy", "scipy", "pymc")


def describe(
    data: Path | None, packages: Iterable[str] = (), *, links: bool = True
) -> dict[str, str | None]:
    """Return the facts that can explain a difference between two samples; None: not there.

    ``data``: the data file of the sample. ``packages``: what it needs besides. ``links``: whether
    its code is linked with BLAS, which PyTensor then looks for by three runs of the compiler, of
    0.3 s together. PyTensor's configuration is included if PyTensor has been imported. Raises
    OSError if the data file cannot be read.
    """
    facts = versions((*_PACKAGES, *packages))
    facts["cpu"] = processor()
    facts["cpu_count"] = str(os.cpu_count())
    facts["data"] = _digest(data)
    facts["load"] = f"{os.getloadavg()[0]:.2f}"
    if "pytensor" in sys.modules:
        from pytensor.configdefaults import config

        facts["cxx"] = str(config.cxx) or None
        facts["cxx_version"] = _first_line(config.cxx)
        facts["default_mode"] = str(config.mode)
        facts["default_linker"] = str(config.linker)
        facts["floatX"] = str(config.floatX)
        facts["blas_ldflags"] = (str(config.blas__ldflags) or None) if links else None
    return facts


def find_blas() -> None:
    """Let PyTensor look for a BLAS to link with, which it does once in a process.

    Where none is installed, it lists every file in the directories of the linker, several times. Of
    a first build with C, that was a fifth of the Python calls, and 0.4 % more calls after a browser
    had been installed. Counts without them say nothing of the search itself: `compiler_runs` and
    times do.
    """
    from pytensor.configdefaults import config

    str(config.blas__ldflags)


def versions(packages: Iterable[str]) -> dict[str, str | None]:
    """Return the versions of packages, of Python and of the platform; None: not installed."""
    facts: dict[str, str | None] = {package: _version(package) for package in packages}
    facts["python"] = platform.python_version()
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        # An extension module that does not declare itself safe switches the lock on again.
        facts["gil"] = "on" if sys._is_gil_enabled() else "off"  # type: ignore[attr-defined]
    facts["platform"] = platform.platform()
    facts["machine"] = platform.machine()
    return facts


def _digest(data: Path | None) -> str:
    """Which data the model was built from."""
    if data is None:
        return "generated"
    return f"sha256 {hashlib.sha256(data.read_bytes()).hexdigest()[:16]}"


@cache
def _first_line(compiler: str) -> str | None:
    """What the compiler says of its version."""
    if not compiler:
        return None
    try:
        said = subprocess.run(
            [compiler, "--version"], capture_output=True, text=True, timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return next(iter(said.stdout.splitlines()), "")[:200] or None


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def processor() -> str | None:
    """Return the model of the processor, as the kernel names it; None if nobody says."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or None
