"""A C++ compiler that compiles the same code once, for processes that build the same graphs."""

from __future__ import annotations

import shutil
from pathlib import Path

_SCRIPT = Path(__file__).with_suffix(".sh")


def make(directory: Path) -> Path:
    """Make the compiler as `g++` in a directory, and return it: what PATH should begin with.

    What it has compiled stays there. Raises SystemExit without a real g++.
    """
    real = shutil.which("g++")
    if real is None:
        raise SystemExit("there is no g++: PyTensor's C code cannot be compiled")
    directory = directory.absolute()
    (directory / "modules").mkdir(parents=True, exist_ok=True)
    if not (directory / "real").is_symlink():
        (directory / "real").symlink_to(real)
    shutil.copy2(_SCRIPT, directory / "g++")
    return directory
