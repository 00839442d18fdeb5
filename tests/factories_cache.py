"""C modules as PyTensor keeps them, made by hand: a library, its key and the times of its files."""

from __future__ import annotations

import os
import pickle
import subprocess
import tempfile
from functools import cache
from pathlib import Path

COMPILEDIR = "compiledir_Linux-6.1-x86_64-with-glibc2.36--3.13.0-64"
KEY = {"keys": ["-O3", "-march=znver3", "NPY_ABI_VERSION=0x2000000", "c_compiler_str=g++ 12.2"]}


@cache
def library() -> bytes:
    """A shared library."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "made.so"
        subprocess.run(
            ["gcc", "-x", "c", "-shared", "-fPIC", "-o", str(path), "-"],
            input=b"int one(void) { return 1; }", check=True,
        )  # fmt: skip
        return path.read_bytes()


def put_module(compiledir: Path, name: str, written: float, used: float | None = None) -> Path:
    """Write the directory of a module. ``written`` and ``used`` are seconds since 1970."""
    module = compiledir / name
    module.mkdir(parents=True)
    (module / "mod.cpp").write_text("int one;")
    (module / "m1.so").write_bytes(library())
    (module / "key.pkl").write_bytes(pickle.dumps(KEY))
    for file in module.iterdir():
        os.utime(file, (used or written, written))
    return module


def aged(path: Path, written: float) -> Path:
    """Set the time of a file."""
    os.utime(path, (written, written))
    return path
