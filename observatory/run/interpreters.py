"""The Python interpreters of this machine, and which of them can run the newest PyTensor."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from packaging.version import Version

from observatory.errors import Exit, ObservatoryError
from observatory.run.asking import NoAnswerError, answer
from observatory.run.uv import Index, RealUv, Uv, UvError
from observatory.store.base.record import Record
from observatory.store.records.sample import Text, Word

SUPPORTED = ("3.11", "3.12", "3.13", "3.14")
"""Minor versions of CPython that can be measured, oldest first."""
_NEWEST = ("pytensor",)

_PROBE = """
import json, os, platform, sys, sysconfig
print(json.dumps({
    "version": platform.python_version(),
    "implementation": sys.implementation.name,
    "final": sys.version_info.releaselevel == "final",
    "free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    "headers": os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")),
    "executable": getattr(sys, "_base_executable", None) or sys.executable,
}))
"""


class _Facts(Record):
    """What an interpreter says of itself."""

    version: Word
    implementation: Word
    final: bool
    free_threaded: bool
    headers: bool
    executable: Text


class NoInterpreterError(ObservatoryError):
    """No installed interpreter can be measured; the message says what to install."""

    exit_code = Exit.ENVIRONMENT


@dataclass(frozen=True)
class Interpreter:
    """An installed CPython from which an environment under test can be made."""

    path: Path
    version: str
    free_threaded: bool = False
    """Whether it was built without the global interpreter lock."""

    @property
    def minor(self) -> str:
        """The minor version, e.g. "3.13"; of a free-threaded build "3.13t"."""
        return self.version.rpartition(".")[0] + "t" * self.free_threaded


@dataclass(frozen=True)
class Interpreters:
    """The newest patch of each minor version, newest first, and why others were skipped."""

    interpreters: tuple[Interpreter, ...]
    skipped: tuple[str, ...] = ()

    @property
    def ordinary(self) -> tuple[Interpreter, ...]:
        """Those that are not free-threaded: a free-threaded one must be asked for."""
        return tuple(one for one in self.interpreters if not one.free_threaded)

    def of(self, minor: str) -> Interpreter:
        """Return the interpreter of a minor version such as "3.13".

        Raises NoInterpreterError if it is not installed.
        """
        for interpreter in self.interpreters:
            if interpreter.minor == minor:
                return interpreter
        installed = ", ".join(i.minor for i in self.interpreters) or "none"
        reasons = "".join(f"; {reason}" for reason in self.skipped if f"Python {minor}" in reason)
        raise NoInterpreterError(
            f"Python {minor} is not installed (found: {installed}{reasons}); "
            "install it, or name another with --python"
        )


@dataclass(frozen=True)
class Choice:
    """An interpreter, the PyTensor that it gets, and a sentence if a newer one exists."""

    interpreter: Interpreter
    pytensor: str
    note: str | None = None


def find(uv: Uv | None = None, candidates: Iterable[Path] | None = None) -> Interpreters:
    """Look for CPython 3.11 to 3.14 on PATH, in pyenv and among uv's own, or at ``candidates``.

    Interpreters that do not run are left out. Pre-releases, and those without the headers that the
    C backend needs, are skipped with a reason.
    """
    paths = _everywhere(uv or RealUv()) if candidates is None else candidates
    answers = [_ask(path) for path in dict.fromkeys(paths)]
    skipped = dict.fromkeys(answer for answer in answers if isinstance(answer, str))
    found = [answer for answer in answers if isinstance(answer, Interpreter)]
    newest: dict[str, Interpreter] = {}
    for interpreter in sorted(found, key=lambda one: Version(one.version), reverse=True):
        newest.setdefault(interpreter.minor, interpreter)
    return Interpreters(tuple(newest.values()), tuple(skipped))


def newest_supported(index: Index, found: Interpreters) -> Choice:
    """Choose the interpreter that gets the newest PyTensor; among equals, the newest one.

    If a Python that is not installed would get a newer one, the note says so. Raises
    NoInterpreterError if no interpreter is installed or none gets any PyTensor.
    """
    if not found.ordinary:
        reasons = [*found.skipped, *(f"{one.minor} has to be named: --python {one.minor}"
                                     for one in found.interpreters)]  # fmt: skip
        why = "".join(f" ({reason})" for reason in reasons)
        raise NoInterpreterError(
            f"no CPython {SUPPORTED[0]} to {SUPPORTED[-1]} with headers was found on PATH, in "
            f"pyenv or among uv's{why}: install one, for example with pyenv, and run this again"
        )
    offers: dict[str, Version] = {}
    refusals: list[str] = []
    for interpreter in found.ordinary:
        try:
            offers[interpreter.minor] = index.version_for(_NEWEST, interpreter.path)
        except UvError as error:
            refusals.append(f"Python {interpreter.minor}: {error.output}")
    if not offers:
        raise NoInterpreterError("no installed Python can install pytensor: " + "; ".join(refusals))
    # A dict keeps its order and max takes the first of equals, which is the newest interpreter.
    minor = max(offers, key=lambda name: offers[name])
    note = _fallback_note(index, found, offers[minor])
    return Choice(found.of(minor), str(offers[minor]), note)


def _fallback_note(index: Index, found: Interpreters, best: Version) -> str | None:
    installed = {interpreter.minor for interpreter in found.interpreters}
    ordinary = {interpreter.minor for interpreter in found.ordinary}
    for minor in (one for one in SUPPORTED if one not in installed):
        with suppress(UvError):
            offer = index.version_for(_NEWEST, found.ordinary[0].path, minor)
            if offer > best:
                only = " and ".join(sorted(ordinary, key=Version))
                return (
                    f"only Python {only} was found; the newest PyTensor it can run is {best}, "
                    f"while the index offers {offer} for Python {minor}: "
                    f"install Python {minor} or later to measure it"
                )
    return None


def _everywhere(uv: Uv) -> Iterator[Path]:
    roots = _pyenv_roots()
    # A shim starts one of the interpreters below and takes five times as long.
    shims = {root / "shims" for root in roots}
    for directory in map(Path, os.environ.get("PATH", "").split(os.pathsep)):
        for minor in reversed(SUPPORTED):
            for path in (directory / f"python{minor}", directory / f"python{minor}t"):
                if directory not in shims and path.is_file() and os.access(path, os.X_OK):
                    yield directory.resolve() / path.name  # /bin may be a link to /usr/bin
    for root in roots:
        for minor in SUPPORTED:
            yield from sorted(root.glob(f"versions/{minor}.*/bin/python"))
    try:
        # `uv python list` takes a second, because it reads what could be downloaded.
        managed = Path(uv("python", "dir").strip())
    except UvError:
        return  # uv is one source among several
    for minor in SUPPORTED:
        for name in (f"python{minor}", f"python{minor}t"):
            yield from sorted(managed.glob(f"cpython-{minor}*/bin/{name}"))


def _pyenv_roots() -> list[Path]:
    roots = [Path(os.environ["PYENV_ROOT"])] if os.environ.get("PYENV_ROOT") else []
    try:
        done = subprocess.run(
            ["pyenv", "root"], capture_output=True, text=True, timeout=20, check=True
        )
        roots.append(Path(done.stdout.strip()))
    except (OSError, subprocess.SubprocessError):
        with suppress(RuntimeError):  # there is no home
            roots.append(Path.home() / ".pyenv")
    return list(dict.fromkeys(roots))


def _ask(path: Path) -> Interpreter | str | None:
    """Return an interpreter, the reason why it is skipped, or None if it does not run."""
    try:
        facts = answer([str(path), "-I", "-c", _PROBE], _Facts, 30)
    except NoAnswerError:
        return None  # a pyenv shim whose version is not selected, or a broken installation
    interpreter = Interpreter(Path(facts.executable), facts.version, facts.free_threaded)
    if facts.implementation != "cpython" or interpreter.minor.rstrip("t") not in SUPPORTED:
        return None
    name = f"Python {interpreter.version} at {interpreter.path}"
    if not facts.final:
        return f"{name} is a pre-release and was skipped"
    if not facts.headers:
        return (
            f"{name} has no Python.h, which the C backend needs, and was skipped: "
            "install its development package"
        )
    return interpreter
