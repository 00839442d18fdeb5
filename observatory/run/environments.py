"""Environments under test: uv creates them, and a digest of their content names them."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from packaging.utils import canonicalize_name
from pydantic import BaseModel, ConfigDict, TypeAdapter

from observatory.errors import Exit, ObservatoryError
from observatory.run.asking import NoAnswerError, answer
from observatory.run.credentials import without_credentials
from observatory.run.git import GitError
from observatory.run.interpreters import Interpreter
from observatory.run.started import Started
from observatory.run.uv import PREBUILT, RealUv, Uv, UvError, as_uv_date
from observatory.run.wheels import CommitWheels
from observatory.store.base.files import write_atomic
from observatory.store.base.locking import locked
from observatory.store.base.strict_json import InvalidError, read_json
from observatory.store.records.sample import Word
from observatory.store.records.subject import Subject, Versions, name_of

_LAYOUT = 1
"""Part of every key; increase it when environments are made in another way."""
_READY = "ready.json"
_SCRUBBED = ("PYTHON", "VIRTUAL_ENV", "PYTENSOR", "NUMBA_")
_ASK_VERSIONS = """
import json, platform
from importlib.metadata import distributions
print(json.dumps([platform.python_version(),
                  {d.metadata["Name"]: d.version for d in distributions() if d.metadata["Name"]}]))
"""


_INSTALLED = TypeAdapter(tuple[Word, dict[Word, Word | None]])
NO_PINS: Mapping[str, str] = MappingProxyType({})


class EnvironmentMakingError(ObservatoryError):
    """An environment under test cannot be made; the message quotes the last lines of uv."""

    exit_code = Exit.ENVIRONMENT


class _Ready(BaseModel):
    """The marker of a complete environment, which is written last."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: str
    subject: str
    versions: Versions


@dataclass(frozen=True)
class _Added:
    """What an environment gets beside its subject, and what it must not change."""

    requirements: Sequence[str]
    own: Versions
    """What the subject's own environment holds."""

    def constraints(self, subject: Subject, pins: Mapping[str, str]) -> list[str]:
        """Return requirements that keep every other distribution as it is, or as pinned."""
        named = set(map(name_of, subject.requirements))
        own = {name: one for name, one in self.own.packages.items() if name not in named}
        return [f"{name}=={version}" for name, version in {**own, **pins}.items()]

    def told_apart(self, every: Versions) -> Versions:
        """Return the versions of both, those that were added apart from the subject's own."""
        found = every.packages.items()
        added = {name: version for name, version in found if name not in self.own.packages}
        return self.own.model_copy(update={"added": added})


@dataclass(frozen=True)
class Environment:
    """An environment in which a subject is installed and the benchmarks can run."""

    python: Path
    versions: Versions
    key: str
    importable: Path
    """A directory that contains the package ``benchmarks`` and nothing else."""

    def command(self, module: str, *args: str) -> list[str]:
        """Return the command that runs a module such as ``benchmarks.sample`` with arguments."""
        return [str(self.python), "-m", module, *args]

    def start(
        self, directory: Path, module: str, *args: str, line: str = "", place: Path | None = None
    ) -> Started:
        """Start a module in a directory, and return its process with what it prints.

        ``line`` is all that its stdin holds. ``place``: another directory for its temporary files.
        Ctrl-C in the terminal does not reach it: whoever starts it has to end it.
        """
        return Started(
            self.command(module, *args),
            line=line,
            cwd=directory,
            env=self.variables() | ({} if place is None else {"TMPDIR": str(place.absolute())}),
            start_new_session=True,
        )

    def variables(self) -> dict[str, str]:
        """Return the environment variables for `command`: those of this process, scrubbed.

        Of the tool's packages, only ``benchmarks`` can be imported. Credentials stay here.
        """
        own = without_credentials(os.environ)
        kept = {k: v for k, v in own.items() if not k.startswith(_SCRUBBED)}
        return {**kept, "PYTHONPATH": str(self.importable)}


@dataclass(frozen=True)
class Environments:
    """All environments under test below one directory, typically ``.observatory/envs``."""

    root: Path
    uv: Uv = field(default_factory=RealUv)
    overrides: tuple[str, ...] = ()
    """Requirements that override the metadata of other packages."""
    making: Callable[[], AbstractContextManager[object]] = nullcontext
    """Entered while an environment is made, which takes seconds, and minutes from source."""

    def key(
        self,
        subject: Subject,
        interpreter: Interpreter,
        added: Sequence[str] = (),
        pins: Mapping[str, str] = NO_PINS,
    ) -> str:
        """Return the name of an environment: a digest of everything that its content depends on."""
        content = {
            "layout": _LAYOUT,
            "requirements": subject.requirements,
            "extras": subject.extras,
            # Distinguishes two wheels with the same name.
            "commit": subject.commit,
            "exclude_newer": _date(subject),
            "python": interpreter.version,
            "interpreter": str(interpreter.path),
            # Left out when empty, so that older keys do not change.
            **({"overrides": self.overrides} if self.overrides else {}),
            **({"added": sorted(added)} if added else {}),
            **({"pins": dict(pins)} if pins else {}),
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]

    def ensure(
        self,
        subject: Subject,
        interpreter: Interpreter,
        added: Sequence[str] = (),
        pins: Mapping[str, str] = NO_PINS,
    ) -> Environment:
        """Return the subject's environment; create it if needed (seconds; minutes from source).

        ``added``: further requirements, which an optional backend needs. That environment holds
        the same as the subject's own, and beside it what they bring. ``pins``: versions of
        dependencies that it must have. Processes that need the same environment wait for the first
        of them. What a killed process left incomplete is created again. Raises
        EnvironmentMakingError.
        """
        key = self.key(subject, interpreter, added, pins)
        constraints, more = [f"{name}=={version}" for name, version in pins.items()], None
        if added:
            more = _Added(added, self.ensure(subject, interpreter, pins=pins).versions)
            constraints = more.constraints(subject, pins)
        where = self.root.absolute() / key
        where.parent.mkdir(parents=True, exist_ok=True)
        with self._locked(where.with_name(f"{key}.lock")) as lock:
            ready = _read_marker(where, key)
            if ready is None:
                shutil.rmtree(where, ignore_errors=True)
                with self.making():
                    ready = self._make(lock, where, key, subject, interpreter, more, constraints)
        return Environment(_python_of(where), ready.versions, key, importable(self.root))

    @contextmanager
    def _locked(self, path: Path) -> Iterator[int]:
        """Hold the lock of an environment. It is being made while another process holds it."""
        waiting = ExitStack()
        with waiting, locked(path, lambda: waiting.enter_context(self.making())) as lock:
            waiting.close()
            yield lock

    def _make(
        self,
        lock: int,
        where: Path,
        key: str,
        subject: Subject,
        interpreter: Interpreter,
        more: _Added | None,
        constraints: Sequence[str],
    ) -> _Ready:
        # A virtual environment cannot be moved, so it is created in place, and the marker that is
        # renamed into it last says that it is complete. If this process is killed, uv goes on, and
        # its lock keeps others from the directory until it ends.
        python = str(interpreter.path)
        try:
            venv = ("venv", "--quiet", "--no-project", "--python", python, str(where))
            self.uv(*venv, held=(lock,))
            with ExitStack() as built:
                asked = [
                    built.enter_context(
                        self.wheels().replacing(text, interpreter, subject.exclude_newer)
                    )
                    for text in wanted_of(subject)
                ]
                asked += more.requirements if more else ()
                options = self._install_arguments(where, subject, constraints)
                self.uv(*options, *asked, timeout=1800.0, held=(lock,))
        except (UvError, GitError) as error:
            shutil.rmtree(where, ignore_errors=True)
            wanted = ", ".join((*subject.requirements, *(more.requirements if more else ())))
            raise EnvironmentMakingError(
                f"no environment for {subject.label} on Python {interpreter.version} could be "
                f"made from {wanted}; uv says: {getattr(error, 'output', error)}"
            ) from error
        versions = versions_of(
            _python_of(where), f"the environment for {subject.label}", subject.requirements
        )
        versions = more.told_apart(versions) if more else versions
        ready = _Ready(key=key, subject=subject.label, versions=versions)
        write_atomic(where / _READY, ready.model_dump_json(indent=2).encode() + b"\n")
        return ready

    def wheels(self) -> CommitWheels:
        """What makes the wheels of commits."""
        return CommitWheels(self.root / "wheels", self.uv)

    def _install_arguments(
        self, where: Path, subject: Subject, constraints: Sequence[str]
    ) -> list[str]:
        args = ["pip", "install", "--quiet", "--compile-bytecode"]
        args += ["--python", str(_python_of(where))]
        if (date := _date(subject)) is not None:
            args += ["--exclude-newer", date]
        for name in PREBUILT:
            args += ["--only-binary", name]
        if self.overrides:
            file = where / "overrides.txt"
            file.write_text("".join(f"{line}\n" for line in self.overrides), encoding="utf-8")
            args += ["--override", str(file)]
        if constraints:
            file = where / "constraints.txt"
            file.write_text("".join(f"{line}\n" for line in constraints), encoding="utf-8")
            args += ["--constraint", str(file)]
        return [*args, "--"]


def importable(root: Path) -> Path:
    """Return a directory below ``root`` that contains the package ``benchmarks`` and nothing else.

    Raises EnvironmentMakingError.
    """
    spec = importlib.util.find_spec("observatory.benchmarks")
    if spec is None or spec.origin is None:
        raise EnvironmentMakingError(
            "the package benchmarks cannot be found; install the observatory again"
        )
    package = Path(spec.origin).resolve().parent
    # Of each package its own: two installations may measure with one directory STATE at a time.
    place = hashlib.blake2b(os.fsencode(package), digest_size=6).hexdigest()
    directory = root.absolute() / "importable" / place
    directory.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        (directory / "benchmarks").symlink_to(package, target_is_directory=True)
    return directory


def wanted_of(subject: Subject) -> tuple[str, ...]:
    """What the environment of a subject is asked for. Older releases do not require numba."""
    named = "numba" in map(name_of, subject.requirements)
    return subject.requirements if named else (*subject.requirements, "numba")


def _date(subject: Subject) -> str | None:
    return None if subject.exclude_newer is None else as_uv_date(subject.exclude_newer)


def _python_of(where: Path) -> Path:
    return where / "bin" / "python"


def _read_marker(where: Path, key: str) -> _Ready | None:
    try:
        ready = read_json(_Ready, (where / _READY).read_bytes())
    except (OSError, InvalidError):
        return None
    # The interpreter that it links to may have been removed.
    return ready if ready.key == key and _python_of(where).exists() else None


def versions_of(python: Path, name: str, requirements: Sequence[str] = ()) -> Versions:
    """Return what the environment of a Python holds.

    ``name``: what messages call it. ``requirements``: what was asked for. Raises
    EnvironmentMakingError if it has no PyTensor.
    """
    try:
        version, packages = answer([str(python), "-I", "-c", _ASK_VERSIONS], _INSTALLED, 120)
    except NoAnswerError as error:
        raise EnvironmentMakingError(
            f"the Python of {name} cannot list its packages: {error}"
        ) from error
    versions: dict[str, str] = {
        canonicalize_name(name): version
        for name, version in sorted(packages.items())
        if version is not None  # what a removal that failed has left
    }
    if "pytensor" not in versions:
        asked = f"; its requirements are {', '.join(requirements)}" if requirements else ""
        raise EnvironmentMakingError(f"{name} has no pytensor{asked}")
    return Versions(
        pytensor=versions["pytensor"], numba=versions.get("numba"), python=version,
        packages=versions,
    )  # fmt: skip
