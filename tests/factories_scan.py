"""Caches as numba writes them, made by hand: object code from the system's compiler, pickles."""

from __future__ import annotations

import pickle
import subprocess
import tempfile
from collections.abc import Collection
from datetime import timedelta
from functools import cache
from pathlib import Path

RANDOM_UID = 273190108184847753118459549183211721230
"""As PyTensor draws them since 2.38.3."""
NUMBA = "0.63.1"
MACHINE = ("x86_64-unknown-linux-gnu", "znver4", "+64bit,+adx")
BITCODE = b"BC\xc0\xde"


def mangled(qualified: str, uid: int | None = 17, types: str = "d", wrapper: str = "") -> str:
    """The symbol of a function as numba mangles it."""
    parts = [wrapper] * bool(wrapper) + qualified.split(".")
    escaped = [part.replace("<", "_3c").replace(">", "_3e") for part in parts]
    name = "".join(f"{len(part)}{part}" for part in escaped)
    tags = "" if uid is None else f"B{len(f'v{uid}')}v{uid}"
    return f"_ZN{name}{tags}B8c8tJTIeFE{types}"


@cache
def compiled(source: str, *flags: str, language: str = "c") -> bytes:
    """The object file of a C source."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "made.o"
        subprocess.run(
            ["gcc", "-x", language, "-O1", "-c", "-fno-asynchronous-unwind-tables", *flags,
             "-o", str(path), "-"],
            input=source.encode(), check=True,
        )  # fmt: skip
        return path.read_bytes()


def c_source(bodies: dict[str, str], copies: Collection[str] = ()) -> str:
    """C functions of one number: by symbol an expression of x. Copies are weak."""
    return "".join(
        f"{'__attribute__((weak)) ' * (symbol in copies)}"
        f'double f{number}(double x) __asm__("{symbol}");\n'
        f"double f{number}(double x) {{ return {body}; }}\n"
        for number, (symbol, body) in enumerate(bodies.items())
    )


def object_of(
    bodies: dict[str, str], *flags: str, copies: Collection[str] = (), linked: Collection[str] = ()
) -> bytes:
    """An object file that defines a function for each symbol, with this expression of x.

    ``copies`` are weak, as numba's of what a function calls; ``linked`` are only said to be in it.
    """
    environments = "".join(
        f'void *e{number} __asm__("{symbol.replace("_ZN", "_ZN08NumbaEnv", 1)}");\n'
        for number, symbol in enumerate(
            [*(symbol for symbol in bodies if "_ZN" in symbol), *linked]
        )
    )
    return compiled(c_source(bodies, copies) + environments, "-fcommon", *flags)


def data_file(code: bytes, protocol: int = 4) -> bytes:
    """A data file of numba's: what a compile result is reduced to."""
    library = ("add", "object", (code, BITCODE))
    described = {"qualname": "add", "args": ("x", "y"), "restype": timedelta(1), "kws": None}
    return pickle.dumps((library, described, [timedelta(2)], False, (), "types\n" * 20), protocol)


def index_file(
    names: list[str], numba: str = NUMBA, machine: tuple[str, ...] = MACHINE, protocol: int = 4
) -> bytes:
    """An index of numba's that refers to these data files."""
    overloads = {
        ((timedelta(number),), machine, ("39a2aefe", "e3b0c442")): name
        for number, name in enumerate(names)
    }
    return pickle.dumps(numba, -1) + pickle.dumps((0, overloads), protocol)


def put(directory: Path, base: str, *codes: bytes, numba: str = NUMBA) -> list[Path]:
    """Write an index and a data file for each object code; returns the data files."""
    directory.mkdir(parents=True, exist_ok=True)
    paths = [directory / f"{base}.py313.{number}.nbc" for number, _ in enumerate(codes, 1)]
    for path, code in zip(paths, codes, strict=True):
        path.write_bytes(data_file(code))
    index = index_file([path.name for path in paths], numba)
    (directory / f"{base}.py313.nbi").write_bytes(index)
    return paths
