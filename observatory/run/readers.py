"""Asking an installed Python what decides whether it can load an entry of a cache."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Sequence

from observatory.errors import Exit, ObservatoryError
from observatory.guard.caches.entries import Reader

# PyTensor is not imported: that would write into the cache that is to be looked at.
_QUESTIONS = """
import importlib.metadata, json, platform
def version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""
facts = {
    "python": platform.python_version(), "pytensor": version("pytensor"),
    "numba": version("numba"), "machine": [], "numpy_abi": "",
}
if facts["numba"]:
    from numba.core.registry import cpu_target
    facts["machine"] = list(cpu_target.target_context.codegen().magic_tuple())
if version("numpy"):
    try:
        from numpy._core._multiarray_umath import _get_ndarray_c_version
    except ImportError:
        from numpy.core._multiarray_umath import _get_ndarray_c_version
    facts["numpy_abi"] = hex(_get_ndarray_c_version())
print(json.dumps(facts))
"""
_TIMEOUT = 120


class ReaderError(ObservatoryError):
    """A Python could not be asked; the message says which and why."""

    exit_code = Exit.ENVIRONMENT


def ask(executable: str) -> Reader:
    """Return what a Python has installed. It imports numba and NumPy, but not PyTensor.

    It runs with the environment variables of this process, as ``NUMBA_CPU_NAME`` decides too.
    Raises ReaderError.
    """
    with tempfile.TemporaryDirectory() as empty:  # so that no module of ours is imported instead
        try:
            done = subprocess.run(
                [executable, "-c", _QUESTIONS], cwd=empty, capture_output=True, text=True,
                timeout=_TIMEOUT, check=True,
            )  # fmt: skip
            facts = json.loads(done.stdout.splitlines()[-1])
        except subprocess.CalledProcessError as error:
            why = error.stderr.strip().rpartition("\n")[2] or f"exit status {error.returncode}"
            raise ReaderError(f"{executable} could not be asked for its versions: {why}") from None
        except (OSError, subprocess.SubprocessError, ValueError, IndexError) as error:
            raise ReaderError(
                f"{executable} could not be asked for its versions: {error}"
            ) from None
    machine: Sequence[str] = facts.pop("machine")
    return Reader(executable, machine=tuple(machine), **facts)
