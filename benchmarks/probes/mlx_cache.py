"""Probe on MLX for the CPU: which kernels it compiles with C++, and which it finds on disk.

MLX reports nothing of this. It compiles when values are asked for, and loads each kernel as a
shared library from a directory of its own in TMPDIR. So the libraries that a call has loaded are
its kernels, and those that were not there before it are misses. What MLX uses again in one process
is not seen.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

from ..messages import LedgerEntry
from .ledger import Ledger, shorten

KIND = "mlx"
PACKAGE = "mlx"
"""What must be installed for it."""
LOOKS_AT = "mlx.core"
"""The module that it hooks into."""
_MAPS = Path("/proc/self/maps")
_OPERATION = re.compile(r"(?<=\d)[IO]((?:[A-Z][a-z]+)+)")
"""An operation follows the type of its result, as in `Df8IAsTypeCA`."""


def install(ledger: Ledger) -> None:
    """Hook MLX's compiled functions. Call it once in a process. Raises ImportError without MLX."""
    import mlx.core as mx

    original = mx.compile
    kernels = _Kernels(Path(tempfile.gettempdir(), "mlx").resolve())

    def hooked(*args: Any, **kwargs: Any) -> Any:
        compiled = original(*args, **kwargs)

        def call(*inputs: Any, **named: Any) -> Any:
            if not ledger.recording:
                return compiled(*inputs, **named)
            before = kernels.loaded()
            values = compiled(*inputs, **named)
            mx.eval(values)
            for kernel in sorted(kernels.loaded() - before):
                ledger.entries.append(kernels.entry(kernel, ledger.step))
            return values

        return call

    mx.compile = hooked


class _Kernels:
    """The shared libraries below a directory."""

    def __init__(self, root: Path) -> None:
        self._root = f"{root}/"
        self._found = {str(path) for path in root.rglob("*.so")}
        """Those that were there before this process compiled any."""

    def loaded(self) -> set[str]:
        """Return the paths of those that this process has loaded."""
        lines = _MAPS.read_text().splitlines()
        return {line[line.index("/") :] for line in lines if self._root in line}

    def entry(self, kernel: str, step: str | None) -> LedgerEntry:
        """Return the entry of one that was just loaded."""
        path, known = Path(kernel), kernel in self._found
        return LedgerEntry(
            shorten(name_of(path.stem)),
            KIND,
            key=path.stem[-200:],
            outcome="hit" if known else "miss",
            source="disk" if known else None,
            bytes=path.stat().st_size,
            step=step,
        )


def name_of(kernel: str) -> str:
    """Return the operations of a kernel in its order; MLX hashes the end of a long name."""
    return ", ".join(_OPERATION.findall(kernel)) or kernel
