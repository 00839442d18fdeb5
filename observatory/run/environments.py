"""Environments under test: made by uv, kept by what they hold, shared between processes."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from packaging.utils import canonicalize_name
from pydantic import BaseModel, ConfigDict, ValidationError

from observatory.errors import Exit, ObservatoryError
from observatory.run.index import PREBUILT, as_uv_date
from observatory.run.interpreters import Interpreter
from observatory.run.uv import RealUv, Uv, UvError, last_lines
from observatory.store.base.files import write_atomic
from observatory.store.base.locking import locked
from observatory.store.records.subject import Subject, Versions

_LAYOUT = 1
"""Part of every key: raise it when environments are made in another way."""
_READY = "ready.json"
_OVERRIDES = "overrides.txt"
_SCRUBBED = ("PYTHON", "VIRTUAL_ENV", "PYTENSOR", "NUMBA_")
_ASK_VERSIONS = """
import json, platform
from importlib.metadata import distributions
print(json.dumps([platform.python_version(),
                  {d.metadata["Name"]: d.version for d in distributions() if d.metadata["Name"]}]))
"""


class EnvironmentMakingError(ObservatoryError):
    """Raised when an environment under test cannot be made; the message holds uv's last lines."""

    exit_code = Exit.ENVIRONMENT


class _Ready(BaseModel):
    """The marker of a complete environment. It is written last."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: str
    subject: str
    versions: Versions


@dataclass(frozen=True)
class Environment:
    """An environment that holds a subject and can run the benchmarks."""

    python: Path
    versions: Versions
    key: str
    importable: Path
    """A directory with the package ``benchmarks`` and nothing else."""

    def command(self, module: str, *args: str) -> list[str]:
        """The command that runs a module here: ``command("benchmarks.sample", "--model", ...)``."""
        return [str(self.python), "-m", module, *args]

    def variables(self, base: Mapping[str, str] | None = None) -> dict[str, str]:
        """The environment variables for `command`: ``base`` (or this process's), scrubbed.

        Only ``benchmarks`` becomes importable: the packages of the tool itself stay out of sight.
        """
        source = os.environ if base is None else base
        kept = {k: v for k, v in source.items() if not k.startswith(_SCRUBBED)}
        return {**kept, "PYTHONPATH": str(self.importable)}


@dataclass(frozen=True)
class Environments:
    """All environments under test below one directory, typically ``.observatory/envs``."""

    root: Path
    uv: Uv = field(default_factory=RealUv)
    overrides: tuple[str, ...] = ()
    """Requirements that hold whatever the metadata of the others says: a bound that is lifted."""

    def key(self, subject: Subject, interpreter: Interpreter) -> str:
        """What an environment is kept under: a digest of everything that decides its content."""
        decides = {
            "layout": _LAYOUT,
            "requirements": subject.requirements,
            "extras": subject.extras,
            # Tells two builds of one wheel's name apart.
            "commit": subject.commit,
            "exclude_newer": _date(subject),
            "python": interpreter.version,
            "interpreter": str(interpreter.path),
            # Named only where there are any: the keys of all others stay what they were.
            **({"overrides": self.overrides} if self.overrides else {}),
        }
        text = json.dumps(decides, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def ensure(self, subject: Subject, interpreter: Interpreter) -> Environment:
        """Return the subject's environment, made now if need be (seconds; minutes from source).

        Processes that ask for the same one at the same time wait for the first. What a killed
        process left half-made is removed and made again. Raises `EnvironmentMakingError`.
        """
        key = self.key(subject, interpreter)
        where = self.root.absolute() / key
        where.parent.mkdir(parents=True, exist_ok=True)
        with locked(where.with_name(f"{key}.lock")):
            ready = _read_marker(where, key)
            if ready is None:
                shutil.rmtree(where, ignore_errors=True)
                ready = self._make(where, key, subject, interpreter)
        return Environment(_python_of(where), ready.versions, key, self._importable())

    def _make(self, where: Path, key: str, subject: Subject, interpreter: Interpreter) -> _Ready:
        # A virtual environment cannot be moved, so that it is made in place and the marker, which
        # is renamed into it last, says that it is complete.
        try:
            self.uv(
                "venv", "--quiet", "--no-project", "--python", str(interpreter.path), str(where)
            )
            self.uv(*self._install_arguments(where, subject), timeout=1800.0)
        except UvError as error:
            shutil.rmtree(where, ignore_errors=True)
            raise EnvironmentMakingError(
                f"no environment for {subject.label} on Python {interpreter.version} could be "
                f"made from {', '.join(subject.requirements)}; uv says: {error.said}"
            ) from error
        ready = _Ready(key=key, subject=subject.label, versions=_ask_versions(where, subject))
        write_atomic(where / _READY, ready.model_dump_json(indent=2).encode() + b"\n")
        return ready

    def _install_arguments(self, where: Path, subject: Subject) -> list[str]:
        args = [
            "pip",
            "install",
            "--quiet",
            "--compile-bytecode",
            "--python",
            str(_python_of(where)),
        ]
        date = _date(subject)
        if date is not None:
            args += ["--exclude-newer", date]
        for name in PREBUILT:
            args += ["--only-binary", name]
        if self.overrides:
            listed = where / _OVERRIDES
            listed.write_text("".join(f"{line}\n" for line in self.overrides), encoding="utf-8")
            args += ["--override", str(listed)]
        return [*args, "--", *_with_numba(subject.requirements)]

    def _importable(self) -> Path:
        spec = importlib.util.find_spec("benchmarks")
        if spec is None or spec.origin is None:
            raise EnvironmentMakingError(
                "the package benchmarks cannot be found; install the observatory again"
            )
        package = Path(spec.origin).resolve().parent
        directory = self.root.absolute() / "importable"
        link = directory / "benchmarks"
        if not (link.is_symlink() and link.resolve() == package):
            directory.mkdir(parents=True, exist_ok=True)
            fresh = directory / f".benchmarks-{os.getpid()}"
            fresh.unlink(missing_ok=True)
            fresh.symlink_to(package, target_is_directory=True)
            fresh.replace(link)
        return directory


def _date(subject: Subject) -> str | None:
    return None if subject.exclude_newer is None else as_uv_date(subject.exclude_newer)


def _with_numba(requirements: Iterable[str]) -> list[str]:
    """Add numba where nobody names it: older releases do not bring it."""
    wanted = list(requirements)
    if not any(re.match(r"numba\b(?!-)", text, re.IGNORECASE) for text in wanted):
        wanted.append("numba")
    return wanted


def _python_of(where: Path) -> Path:
    return where / "bin" / "python"


def _read_marker(where: Path, key: str) -> _Ready | None:
    try:
        ready = _Ready.model_validate_json((where / _READY).read_bytes())
    except (OSError, ValidationError):
        return None
    # The interpreter that it links to may have been removed since.
    return ready if ready.key == key and _python_of(where).exists() else None


def _ask_versions(where: Path, subject: Subject) -> Versions:
    try:
        said = subprocess.run(
            [str(_python_of(where)), "-I", "-c", _ASK_VERSIONS],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        python, packages = json.loads(said.stdout)
    except subprocess.CalledProcessError as error:
        raise EnvironmentMakingError(
            f"the Python of the environment for {subject.label} cannot list its packages: "
            f"{last_lines(error.stderr)}"
        ) from error
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise EnvironmentMakingError(
            f"the Python of the environment for {subject.label} does not run: {error}"
        ) from error
    held: dict[str, str] = {
        canonicalize_name(name): version for name, version in sorted(packages.items())
    }
    if "pytensor" not in held:
        raise EnvironmentMakingError(
            f"the environment for {subject.label} has no pytensor; its requirements are "
            f"{', '.join(subject.requirements)}"
        )
    return Versions(
        pytensor=held["pytensor"], numba=held.get("numba"), python=python, packages=held
    )
