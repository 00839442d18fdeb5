"""Which numba can be installed, asked of pip: its own configuration names the index.

pip is asked what it would install and installs nothing. So a release counts only if it is final,
was not yanked, and brings a wheel for this platform and for a Python that the project allows.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from observatory.numba_bound.pins import NAME, UnsafeError
from observatory.run.uv import last_lines

_OLDEST, _NEWEST = 8, 30
"""Minor versions of Python 3 that are asked for; the questions end where wheels end."""
_TIME_LIMIT = 300.0
_PIP = (
    "install", "--quiet", "--disable-pip-version-check", "--no-input", "--dry-run",
    "--ignore-installed", "--no-deps", "--only-binary", ":all:", "--report", "-",
)  # fmt: skip
_SCRUBBED = (
    "PIP_CONSTRAINT", "PIP_REQUIREMENT", "PIP_NO_BINARY", "PIP_ONLY_BINARY", "PIP_PLATFORM",
    "PIP_REPORT", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT",
)  # fmt: skip
"""Settings that choose what is installed and where; those that choose the index stay."""
_ANSWERED = {"PIP_PRE": "0", "PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0"}


class NoAnswerError(RuntimeError):
    """Raised when nobody can say which numba there is; the message says who was asked and what."""


class Pip(Protocol):
    """Whatever runs pip: the real one, or a fake in tests."""

    def __call__(self, *args: str) -> tuple[int, str, str]:
        """Run ``pip ARGS``: its exit status, standard output and standard error."""
        ...


@dataclass(frozen=True)
class RealPip:
    """The pip of this interpreter."""

    def __call__(self, *args: str) -> tuple[int, str, str]:
        """Run ``pip ARGS``; raise `NoAnswerError` if it cannot be started or does not end."""
        environment = {k: v for k, v in os.environ.items() if k not in _SCRUBBED}
        try:
            done = subprocess.run(
                [sys.executable, "-I", "-m", "pip", *args],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_TIME_LIMIT,
                check=False,
                env={**environment, **_ANSWERED},
            )
        except subprocess.TimeoutExpired as error:
            raise NoAnswerError(f"pip said nothing for {_TIME_LIMIT:.0f} s") from error
        except OSError as error:
            raise NoAnswerError(f"pip cannot be started: {error}") from error
        return done.returncode, done.stdout, done.stderr


@dataclass(frozen=True)
class Released:
    """The releases of numba for a project that says ``requires-python``."""

    requires_python: str
    pip: Pip = field(default_factory=RealPip)
    _answers: dict[tuple[str, str], tuple[Version | None, str]] = field(default_factory=dict)

    def newest(self) -> Version:
        """The newest release; raise `NoAnswerError` if there is none for any allowed Python."""
        found = [version for _, version in self._offered()]
        if not found:
            raise NoAnswerError(
                f"pip finds no final release of {NAME} with a wheel for this platform and a Python "
                f"that the project allows ({self.requires_python or 'any'}); "
                f"pip says: {self._ask(NAME, minors(self.requires_python)[0])[1]}"
            )
        return max(found)

    def within(self, bounds: SpecifierSet) -> Version | None:
        """The newest release within bounds, for any allowed Python; None if there is none."""
        asked = [self._ask(f"{NAME}{bounds}", minor)[0] for minor, _ in self._offered()]
        return max((version for version in asked if version is not None), default=None)

    def has(self, version: Version) -> bool:
        """Whether a release can be installed on any allowed Python.

        A range is asked for, because pip takes a yanked release where it is pinned by ``==``.
        """
        wanted = f"{NAME}>={version},<={version}"
        return any(self._ask(wanted, minor)[0] == version for minor, _ in self._offered())

    def _offered(self) -> Iterator[tuple[str, Version]]:
        """Every allowed Python that there are wheels for, and the newest release for it."""
        begun = False
        for minor in minors(self.requires_python):
            version, _ = self._ask(NAME, minor)
            if version is not None:
                begun = True
                yield minor, version
            elif begun:
                return  # wheels for a newer Python never come before those for an older one

    def _ask(self, requirement: str, minor: str) -> tuple[Version | None, str]:
        key = (requirement, minor)
        if key not in self._answers:
            self._answers[key] = _ask(self.pip, *key)
        return self._answers[key]


def minors(requires_python: str) -> tuple[str, ...]:
    """The minor versions that a project allows, oldest first; raise `UnsafeError` if none.

    >>> minors(">=3.12,<3.15")
    ('3.12', '3.13', '3.14')
    """
    try:
        allowed = SpecifierSet(requires_python)
    except InvalidSpecifier as error:
        raise UnsafeError(
            f"its requires-python is {requires_python!r}, which is no version specifier"
        ) from error
    found = tuple(
        f"3.{minor}"
        for minor in range(_OLDEST, _NEWEST)
        if any(f"3.{minor}.{patch}" in allowed for patch in range(100))
    )
    if not found:
        raise UnsafeError(f"its requires-python, {requires_python!r}, allows no Python from 3.8 on")
    return found


def _ask(pip: Pip, requirement: str, minor: str) -> tuple[Version | None, str]:
    """What pip would install for a Python, and if nothing its last lines."""
    with tempfile.TemporaryDirectory() as nowhere:  # pip wants to know where, and writes nothing
        status, report, said = pip(
            *_PIP, "--python-version", minor, "--target", str(Path(nowhere) / "x"), requirement
        )
    if status != 0:
        if "No matching distribution found" in said and not _is_offline(said):
            return None, last_lines(said)
        raise NoAnswerError(f"pip cannot say which {NAME} there is: {last_lines(said, 4)}")
    try:
        (chosen,) = json.loads(report)["install"]
        version = Version(chosen["metadata"]["version"])
    except (ValueError, KeyError, TypeError, InvalidVersion) as error:
        raise NoAnswerError(f"pip's report on {requirement} cannot be read: {error!r}") from error
    if version.is_prerelease:
        raise NoAnswerError(
            f"pip is configured to prefer pre-releases and offers {NAME} {version}; unset `pre`"
        )
    return version, ""


def _is_offline(said: str) -> bool:
    """Whether pip found nothing because it could not look: its last line is the same then."""
    return any(sign in said for sign in ("Retrying (Retry(", "Could not fetch URL"))
