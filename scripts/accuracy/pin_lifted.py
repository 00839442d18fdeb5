"""Take one sample of work with one pin lifted, in the environment under test, for `pin_spread`.

    PYTHONPATH=... python scripts/accuracy/pin_lifted.py PIN REPETITION SAMPLE_ARGUMENTS...

PIN is a name in LIFTED; the arguments are those of `python -m benchmarks.sample`.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks import fillers, pinning, sample

Variables = dict[str, str]


def _addresses(_: int) -> None:
    pinning._fixed_addresses = tuple


def _environment(repetition: int) -> None:
    """A block of another size in each repetition, as other machines have."""

    def unpadded(_: pinning.Pins, environment: Variables) -> Variables:
        return {**environment, "VARIED": "." * (64 + 37 * repetition)}

    pinning.Pins.padded = unpadded  # type: ignore[method-assign]


def _hash_seed(repetition: int) -> None:
    pinning.SEED = 1 + repetition


def _names(_: int) -> None:
    fillers.row_of_names = lambda _: iter(())


def _links(_: int) -> None:
    """Packages are reached by their own path; so are benchmarks."""
    without = pinning.Pins.variables

    def interpreter(pins: pinning.Pins, directory: Path, counting: bool) -> tuple[str, ...]:
        *before, _ = linked(pins, directory, counting)
        return (*before, sys.executable)

    linked = pinning.Pins.interpreter
    pinning.Pins.interpreter = interpreter  # type: ignore[method-assign]
    pinning.Pins.variables = lambda pins, directory: {  # type: ignore[method-assign]
        **without(pins, directory), "PYTHONPATH": str(pinning.ROOT),
    }  # fmt: skip


def _without(*names: str) -> Callable[[int], None]:
    """Environment variables that choose machine code."""

    def lift(_: int) -> None:
        chosen = pinning.Pins.variables
        pinning.Pins.variables = lambda pins, directory: {  # type: ignore[method-assign]
            name: value for name, value in chosen(pins, directory).items() if name not in names
        }

    return lift


def _edited(file: str, old: str, new: str) -> Callable[[int], None]:
    """A copy of the benchmarks with an edit, in the place to which the sandbox links."""

    def lift(_: int) -> None:
        copy = Path(tempfile.mkdtemp(prefix="pin-lifted-"))
        shutil.copytree(pinning.ROOT / "benchmarks", copy / "benchmarks")
        path = copy / "benchmarks" / file
        content = path.read_text()
        if old not in content:
            raise SystemExit(f"{file} has no {old!r} any more: mend LIFTED in {__file__}")
        path.write_text(content.replace(old, new))
        pinning.ROOT = copy

    return lift


LIFTED: dict[str, Callable[[int], None]] = {
    "none": lambda _: None,
    "addresses": _addresses,
    "size of the environment": _environment,
    "hash seed": _hash_seed,
    "garbage collection": _edited("probes/instructions.py", "gc.disable()", "pass"),
    "BLAS and NumPy": _without("NPY_DISABLE_CPU_FEATURES", "OPENBLAS_CORETYPE"),
    "glibc": _without("GLIBC_TUNABLES"),
    "names of sandboxes": _names,
    "links to packages and benchmarks": _links,
    "arena of calls": _edited(
        "probes/instructions.py", "return thread.submit(counted).result()", "return counted()"
    ),
    "lookups and allocations": _edited(
        "probes/instructions.py", "frozenset(map(str.encode, UNSTEADY))", "frozenset[bytes]()"
    ),
}
"""What lifts a pin, by its name; it is given the number of the repetition, from 0."""


if __name__ == "__main__":
    pin, repetition, *arguments = sys.argv[1:]
    LIFTED[pin](int(repetition))
    try:
        raise SystemExit(sample.main(arguments))
    finally:
        if pinning.ROOT.name.startswith("pin-lifted-"):
            shutil.rmtree(pinning.ROOT)
