"""Asking an installed Python what decides whether it can load an entry of a cache."""

from __future__ import annotations

import configparser
import getpass
import os
import shutil
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from pydantic import Field

from observatory.benchmarks.flags import parsed
from observatory.errors import Exit, ObservatoryError
from observatory.guard.caches.entries import Reader
from observatory.guard.caches.modules import OLD
from observatory.run.asking import NoAnswerError, answer, printed
from observatory.store.base.record import Record
from observatory.store.records.sample import Text, Word

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
_AGE = "cmodule__age_thresh_use"
_NO_EFFECT = frozenset({
    "base_compiledir", "compiledir", "compiledir_format", _AGE, "compile__timeout", "compile__wait",
    "exception_verbosity", "print_global_stats", "traceback__limit", "traceback__compile_limit",
})  # fmt: skip
"""Flags that change no code: where a cache is, how long somebody waits, what is printed."""
_DEFAULTS = {"floatX": "float64", "device": "cpu", "mode": "Mode"}
"""Values that people write down although they are those of every release."""
TARGET = "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"
"""Variables that name the CPU for which numba compiles: it loads code for no other."""
_NO_CODE = (
    "NUMBA_CACHE_DIR", "NUMBA_CACHE_LOCATOR_CLASSES", *TARGET, "NUMBA_NUM_THREADS",
)  # fmt: skip
"""Variables of numba that change no code, or whose effect its target already tells."""


class ReaderError(ObservatoryError):
    """A Python could not be asked; the message says which and why."""

    exit_code = Exit.ENVIRONMENT


class _Facts(Record):
    """The answers."""

    python: Word
    pytensor: Word
    numba: Word
    machine: list[Text] = Field(max_length=10)
    numpy_abi: Word


def ask(executable: str) -> Reader:
    """Return what a Python has installed. It imports numba and NumPy, but not PyTensor.

    It runs with the environment variables of this process, as ``NUMBA_CPU_NAME`` decides too.
    Raises ReaderError.
    """
    if os.sep in executable:  # it is not started from here
        executable = str(Path(executable).absolute())
    try:
        facts = answer([executable, "-c", _QUESTIONS], _Facts, _TIMEOUT)
    except NoAnswerError as error:
        raise ReaderError(f"{executable} could not be asked for its versions: {error}") from None
    told = facts.model_dump(exclude={"machine"})
    return Reader(executable, machine=tuple(facts.machine), **told)


def python_of_shell() -> str | None:
    """Return the Python that the user's shell would start; None if there is none.

    Not the one of the tool's own environment, which `uvx` puts before all others: nobody uses a
    cache with it, unless PyTensor is installed there, too.
    """
    places = os.environ.get("PATH", os.defpath).split(os.pathsep)
    if sys.prefix != sys.base_prefix and not any(map(find_spec, ("pytensor", "numba"))):
        own = Path(sys.prefix, "bin").resolve()
        places = [place for place in places if Path(place).resolve() != own]
    path = os.pathsep.join(places)
    return shutil.which("python", path=path) or shutil.which("python3", path=path)


def python_here(named: str | None) -> str:
    """Return the Python that was named, or the one of the shell. Raises ReaderError."""
    found = named or python_of_shell()
    if found is None:
        raise ReaderError("there is no `python` on PATH; name one with --python")
    return shutil.which(found) or found


def settings(variables: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the settings of PyTensor and numba that may change what is compiled, by name.

    ``variables``: those of the process that compiles. Flags outrank the file ``.pytensorrc``.
    Raises ReaderError.
    """
    found = _of_file(variables)
    found |= _flags(variables)
    found |= {
        name: value
        for name, value in variables.items()
        if name.startswith("NUMBA_") and name not in _NO_CODE
    }
    return {
        name: value
        for name, value in sorted(found.items())
        if name not in _NO_EFFECT and _DEFAULTS.get(name) != value
    }


def oldest_module(variables: Mapping[str, str] = os.environ) -> float:
    """Return after how many seconds without use PyTensor ignores a C module. Raises ReaderError."""
    found = _of_file(variables) | _flags(variables)
    try:
        return float(found.get(_AGE, OLD))
    except ValueError:
        return OLD


def base_compiledir(variables: Mapping[str, str] = os.environ) -> Path:
    """Return where PyTensor keeps its cache: as its flags or its file say, or by default.

    Raises ReaderError.
    """
    found = _of_file(variables) | _flags(variables)
    return _expanded(found.get("base_compiledir") or "~/.pytensor")


def _expanded(name: str) -> Path:
    """A path with the home of the user; without a home, the name as it is."""
    return Path(os.path.expanduser(name))  # noqa: PTH111 that of pathlib raises without a home


def _flags(variables: Mapping[str, str]) -> dict[str, str]:
    """The PYTENSOR_FLAGS by name, without their quotes."""
    text = variables.get("PYTENSOR_FLAGS", "")
    try:
        return dict(parsed(text))
    except ValueError as error:
        raise ReaderError(f"PYTENSOR_FLAGS={text} cannot be read: {error}") from None


def _of_file(variables: Mapping[str, str]) -> dict[str, str]:
    """What PyTensor reads from its configuration files; a section is part of the flag's name."""
    files = variables.get("PYTENSORRC", "~/.pytensorrc")
    parser = configparser.ConfigParser()
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read_dict({parser.default_section: _interpolated(variables)})
    try:
        parser.read([_expanded(one) for one in files.split(os.pathsep)])
    except (configparser.Error, UnicodeDecodeError) as error:
        raise ReaderError(f"{files} cannot be read: {error}") from error
    return {
        name if section == "global" else f"{section}__{name}": _value(parser, section, name)
        for section in parser.sections()
        for name in parser.options(section)
        if name not in parser.defaults()
    }


def _interpolated(variables: Mapping[str, str]) -> dict[str, str]:
    """What PyTensor's configuration files may refer to, as in ``%(USER)s``."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError):
        user = ""
    names = ("LSCRATCH", "TMPDIR", "TEMP", "TMP")
    known = {"USER": user, "PID": str(os.getpid())} | {
        name: variables[name] for name in names if name in variables
    }
    return {name: value.replace("%", "%%") for name, value in known.items()}


def _value(parser: configparser.ConfigParser, section: str, name: str) -> str:
    """A value as PyTensor reads it: as it is written, where it refers to what is not known."""
    try:
        return parser.get(section, name)
    except configparser.InterpolationError:
        return parser.get(section, name, raw=True)


def compiler(settings: Mapping[str, str]) -> str:
    """Return the version of the C++ compiler that PyTensor uses; empty if there is none."""
    command = settings.get("cxx", "g++")
    if not command:
        return ""
    try:
        status, stdout, _ = printed([command, "-dumpfullversion"], _TIMEOUT)
        if status:  # clang does not know it
            status, stdout, _ = printed([command, "--version"], _TIMEOUT)
    except NoAnswerError:
        return ""
    return "" if status else stdout.strip().partition("\n")[0][:100]
