"""What the package index offers, asked through uv: versions, dates, and the numba of a day."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from observatory.run.uv import RealUv, Uv, UvError

PREBUILT = ("numba", "llvmlite", "numpy", "scipy")
"""Taken as wheels or not at all: building one from source is not what anybody means."""


def as_uv_date(moment: datetime) -> str:
    """A moment the way uv's ``--exclude-newer`` reads it.

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
    ) -> dict[str, str]:
        """Every distribution that would be installed, and its version ("" if not from the index).

        ``minor`` asks for a Python version that need not be installed. Raises `UvError` if nothing
        satisfies the requirements.
        """
        args = ["pip", "compile", "--quiet", "--no-header", "--no-annotate"]
        args += ["--prerelease", "allow"] if prereleases else []
        args += _options(python, minor, exclude_newer)
        for name in (":all:",) if wheels_only else PREBUILT:
            args += ["--only-binary", name]
        said = self.uv(*args, "-", stdin="\n".join(requirements))
        return _pins(said)

    def version_for(
        self, requirements: Sequence[str], python: Path | None = None, minor: str | None = None
    ) -> Version:
        """The PyTensor that an interpreter would get; raise `UvError` if it gets none."""
        pins = self.resolve(requirements, python, minor)
        try:
            return Version(pins["pytensor"])
        except (KeyError, InvalidVersion) as error:
            asked = " ".join(requirements)
            raise UvError(f"uv pip compile {asked}", "its answer names no pytensor") from error

    def newest(self, requirement: str, minor: str) -> str | None:
        """The newest final version of one distribution that satisfies it, or None."""
        args = ("pip", "compile", "--quiet", "--no-header", "--no-annotate", "--no-deps")
        try:
            said = self.uv(*args, *_options(None, minor, None), "-", stdin=requirement)
        except UvError as error:
            if "no solution found" in error.said.lower():
                return None
            raise
        return next(iter(_pins(said).values()), None)

    def uploaded(self, name: str, version: str, minor: str) -> datetime:
        """When a release was uploaded: its source distribution, or its first file without one.

        The source distribution is the one file that every platform sees, so that everybody gets
        the same date. Raises `UvError` if the index does not know, or does not tell.
        """
        args = ("pip", "compile", "--quiet", "--no-deps", "--format", "pylock.toml")
        pin = f"{name}=={version}"
        lock = tomllib.loads(self.uv(*args, *_options(None, minor, None), "-", stdin=pin))
        for package in lock.get("packages", []):
            files = [package["sdist"]] if "sdist" in package else package.get("wheels", [])
            moments = [file["upload-time"] for file in files if "upload-time" in file]
            if moments:
                moment: datetime = min(moments)
                return moment.astimezone(UTC).replace(microsecond=0)
        raise UvError(
            f"uv pip compile {pin}",
            "the index tells no upload time; it is needed to place the release in history",
        )


def _options(
    python: Path | None, minor: str | None, exclude_newer: datetime | None
) -> tuple[str, ...]:
    # Without a named interpreter uv tries all that it can find, broken shims included: 12 s where
    # 0.1 s would do. Which one it is does not matter when ``minor`` says what to resolve for.
    options = ["--python", str(python or sys.executable)]
    if minor is not None:
        options += ["--python-version", minor]
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
