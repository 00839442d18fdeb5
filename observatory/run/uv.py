"""uv, and what it knows of the package index: versions, upload dates, and the numba of a day.

uv works as this machine has configured it. No index is named here, so a mirror, extra links or
certificates of the user stay in force.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol, TypeVar

import uv as _uv
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from observatory.errors import Exit, ObservatoryError
from observatory.run.credentials import without_credentials
from observatory.store.base.scratch import temporary

PREBUILT = ("numba", "llvmlite", "numpy", "scipy")
"""Distributions that are installed from wheels only, as building them takes long."""
_SCRUBBED = ("VIRTUAL_ENV", "PYTHONHOME", "PYTHONPATH", "UV_PROJECT", "UV_WORKING_DIRECTORY")
_Answer = TypeVar("_Answer")
_COMPILE = ("pip", "compile", "--quiet", "--no-header", "--no-annotate")


class UvError(ObservatoryError):
    """uv failed; ``output`` holds the last lines that it printed."""

    exit_code = Exit.ENVIRONMENT

    def __init__(self, command: str, output: str) -> None:
        self.output = output
        super().__init__(f"{command} failed; uv says: {output}")


class Uv(Protocol):
    """Whatever runs uv: the real one, or a fake in tests."""

    def __call__(
        self, *args: str, stdin: str = "", timeout: float = 600.0, held: Sequence[int] = ()
    ) -> str:
        """Run ``uv ARGS`` and return its standard output; raise UvError if it fails."""
        ...


@dataclass(frozen=True)
class RealUv:
    """The uv that came with the tool's own environment."""

    binary: str = field(default_factory=_uv.find_uv_bin)

    def __call__(
        self, *args: str, stdin: str = "", timeout: float = 600.0, held: Sequence[int] = ()
    ) -> str:
        """Run ``uv ARGS`` for at most ``timeout`` seconds and return its standard output.

        ``held``: descriptors of locks, which uv keeps if this process is killed. Raises UvError if
        uv fails, cannot be started or does not end in time.
        """
        # What uv builds gets the variables of uv, too. Only its own are credentials that it needs.
        own = {name: value for name, value in os.environ.items() if name.startswith("UV_")}
        given = without_credentials(os.environ) | own
        environment = {name: value for name, value in given.items() if name not in _SCRUBBED}
        command = " ".join(["uv", *[word for word in args if not word.startswith("-")][:3]])
        try:
            done = subprocess.run(
                [self.binary, "--no-progress", *args],
                input=stdin,
                capture_output=True,
                text=True,
                timeout=timeout,
                check=False,
                env=environment | {"NO_COLOR": "1"},
                # A pyproject.toml or uv.toml of the user's current directory must not change what
                # is installed.
                cwd=Path.cwd().anchor,
                pass_fds=held,
            )
        except subprocess.TimeoutExpired as error:
            raise UvError(command, f"it was stopped after {timeout:.0f} s") from error
        except OSError as error:
            raise UvError(command, f"it cannot be started ({error})") from error
        if done.returncode != 0:
            raise UvError(command, last_lines(done.stderr) or f"exit code {done.returncode}")
        return done.stdout


def if_possible(ask: Callable[[], _Answer]) -> _Answer | None:
    """Return what ``ask`` returns, or None if uv says that nothing satisfies the requirements."""
    try:
        return ask()
    except UvError as error:
        if unsatisfiable(error):
            return None
        raise


def unsatisfiable(error: UvError) -> bool:
    """Whether uv says that nothing satisfies the requirements."""
    reason = error.output.lower()  # only the end of a long explanation is kept
    return "no solution found" in reason or "requirements are unsatisfiable" in reason


def because(error: UvError) -> str:
    """What uv says, as one line: without its drawing, from the first reason on if it gives one."""
    words = " ".join(re.sub(r"[╰─▶×]", " ", error.output).split())
    return words[max(words.find("Because"), 0) :]


def last_lines(text: str, count: int = 12) -> str:
    """Return the last ``count`` lines of a program's output that are not empty."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    return "\n".join(lines[-count:])


def as_uv_date(moment: datetime) -> str:
    """Return a moment in the format of uv's ``--exclude-newer``.

    >>> as_uv_date(datetime(2026, 11, 3, 0, 58, 4, tzinfo=UTC))
    '2026-11-03T00:58:04Z'
    """
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True)
class Index:
    """The package index as configured on this machine."""

    uv: Uv = field(default_factory=RealUv)

    def resolve(
        self,
        requirements: Sequence[str],
        python: Path | None = None,
        minor: str | None = None,
        exclude_newer: datetime | None = None,
        wheels_only: bool = False,
        prereleases: bool = False,
        prefer: Mapping[str, str] | None = None,
    ) -> dict[str, str]:
        """Return the version of every distribution that would be installed, by its name.

        The version is "" if the distribution does not come from the index. ``minor`` is a Python
        version, which need not be installed. ``prefer``: versions that are taken wherever the
        requirements allow them. Raises UvError if nothing satisfies the requirements.
        """
        args = [*_COMPILE, *_options(python, minor, exclude_newer)]
        args += ["--prerelease", "allow"] if prereleases else []
        for name in (":all:",) if wheels_only else PREBUILT:
            args += ["--only-binary", name]
        asked = "\n".join(requirements)
        if not prefer:
            return _pins(self.uv(*args, "-", stdin=asked))
        with temporary("observatory-pins-") as place:
            # uv keeps the versions of an output file that is there, if it can.
            file = Path(place) / "requirements.txt"
            file.write_text("".join(f"{name}=={version}\n" for name, version in prefer.items()))
            self.uv(*args, "--output-file", str(file), "-", stdin=asked)
            return _pins(file.read_text(encoding="utf-8"))

    def version_for(
        self, requirements: Sequence[str], python: Path | None = None, minor: str | None = None
    ) -> Version:
        """Return the version of PyTensor that an interpreter would get; raise UvError if none."""
        pins = self.resolve(requirements, python, minor)
        try:
            return Version(pins["pytensor"])
        except (KeyError, InvalidVersion) as error:
            asked = " ".join(requirements)
            raise UvError(f"uv pip compile {asked}", "its answer names no pytensor") from error

    def newest(self, requirement: str, minor: str) -> str | None:
        """Return the newest final version of a distribution that satisfies a requirement, or None.

        Raises UvError if the index cannot be asked.
        """
        options = ("--no-deps", *_options(None, minor))
        answer = if_possible(lambda: self.uv(*_COMPILE, *options, "-", stdin=requirement))
        return next(iter(_pins(answer or "").values()), None)

    def between(self, name: str, low: str, high: str, minor: str) -> list[str]:
        """Return the final releases of a distribution above ``low`` and below ``high``, ascending.

        Raises UvError if the index cannot be asked.
        """
        found: list[str] = []
        while version := self.newest(f"{name}>{low},<{found[0] if found else high}", minor):
            found.insert(0, version)
        return found

    def uploaded(self, name: str, version: str, minor: str) -> datetime:
        """Return when a release's source distribution, or else its first file, was uploaded.

        Every platform sees the source distribution, so everybody gets the same date. Raises UvError
        if the index does not know the release, or gives no date.
        """
        args = ("pip", "compile", "--quiet", "--no-deps", "--format", "pylock.toml")
        pin = f"{name}=={version}"
        lock = tomllib.loads(self.uv(*args, *_options(None, minor), "-", stdin=pin))
        for package in lock.get("packages", []):
            files = [package["sdist"]] if "sdist" in package else package.get("wheels", [])
            moments = [file["upload-time"] for file in files if "upload-time" in file]
            if moments:
                moment: datetime = min(moments)
                return moment.astimezone(UTC).replace(microsecond=0)
        raise UvError(
            f"uv pip compile {pin}",
            "the index gives no upload time, which the history of releases needs",
        )


def _options(
    python: Path | None, minor: str | None, exclude_newer: datetime | None = None
) -> tuple[str, ...]:
    # Without a named interpreter uv tries all that it finds, broken shims included, which takes
    # 12 s instead of 0.1 s. The interpreter does not matter if ``minor`` names a version.
    options = ["--python", str(python or sys.executable)]
    if minor is not None:
        # uv resolves for the ordinary build alone; what has a wheel is seen at the installation.
        options += ["--python-version", minor.rstrip("t")]
    if exclude_newer is not None:
        options += ["--exclude-newer", as_uv_date(exclude_newer)]
    return tuple(options)


def _pins(text: str) -> dict[str, str]:
    """Read ``name==version`` and ``name @ url`` lines."""
    pins: dict[str, str] = {}
    for line in text.splitlines():
        match = re.match(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:==\s*([^\s;]+)|@)", line)
        if match:
            pins[canonicalize_name(match[1])] = match[2] or ""
    return pins
