"""What the measured process says of itself: versions, compilers, machine. All strings."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from pathlib import Path

_PACKAGES = ("pytensor", "numba", "llvmlite", "numpy", "scipy", "pymc")


def describe() -> dict[str, str | None]:
    """Facts that explain a difference between two samples; None: not there."""
    facts: dict[str, str | None] = {package: _version(package) for package in _PACKAGES}
    facts["python"] = platform.python_version()
    facts["platform"] = platform.platform()
    facts["machine"] = platform.machine()
    facts["cpu"] = _cpu()
    facts["cpu_count"] = str(os.cpu_count())
    facts["load"] = f"{os.getloadavg()[0]:.2f}"
    if "pytensor" in sys.modules:
        from pytensor.configdefaults import config

        facts["cxx"] = str(config.cxx) or None
        facts["default_mode"] = str(config.mode)
        facts["default_linker"] = str(config.linker)
        facts["floatX"] = str(config.floatX)
        facts["blas_ldflags"] = str(config.blas__ldflags) or None
    return facts


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _cpu() -> str | None:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or None
