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
_OPERATION = re.compile(r"[IO]([A-Z][a-z][A-Za-z]*?)(?=[A-Z]{1,3}|_)")


def install(ledger: Ledger) -> None:
    """Hook MLX's compiled functions. Call it once in a process. Raises ImportError without MLX."""
    import mlx.core as mx

    original = mx.compile
    kernels = _Kernels(Path(tempfile.gettempdir(), "mlx"))

    def compile(*args: Any, **kwargs: Any) -> Any:
        compiled = original(*args, **kwargs)

        def call(*inputs: Any, **named: Any) -> Any:
            if not ledger.recording:
                return compiled(*inputs, **named)
            there, loaded = kernels.there(), kernels.loaded()
            values = compiled(*inputs, **named)
            mx.eval(values)
            for path in sorted(kernels.loaded() - loaded):
                known = path in there
                ledger.entries.append(
                    LedgerEntry(
                        shorten(name_of(path.stem)),
                        KIND,
                        key=path.stem[-200:],
                        outcome="hit" if known else "miss",
                        source="disk" if known else None,
                        bytes=path.stat().st_size,
                        step=ledger.step,
                    )
                )
            return values

        return call

    mx.compile = compile


class _Kernels:
    """The shared libraries below a directory."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def there(self) -> set[Path]:
        """Those on disk."""
        return {path.resolve() for path in self._root.rglob("*.so")}

    def loaded(self) -> set[Path]:
        """Those that this process has loaded."""
        root = self._root.resolve()
        files = {Path(line.split(maxsplit=5)[-1]) for line in _MAPS.read_text().splitlines()}
        return {path for path in files if path.is_relative_to(root)}


def name_of(kernel: str) -> str:
    """Return the operations of a kernel in its order; MLX hashes the end of a long name."""
    return ", ".join(_OPERATION.findall(kernel)) or kernel
