"""The releases of numba: those of the package index and, on request, of a conda channel.

uv answers for the index that it is configured with. A release counts if it is final, was not
yanked, and has a wheel for this platform and for a Python that the project allows.

A channel has the layout of conda's CEP 26 and 36; ``current_repodata.json`` lists its newest
packages, in a tenth of the size of ``repodata.json``. A channel is not trusted: sizes and times are
bounded.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from urllib.parse import urlsplit

import urllib3
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from observatory.github.http import pool, reason_of
from observatory.numba_bound.pins import NAME
from observatory.numba_bound.repodata import RepodataError, releases
from observatory.numba_bound.status import NoAnswerError, UnsafeError
from observatory.run.uv import RealUv, Uv, UvError

CURRENT, ALL = "current_repodata.json", "repodata.json"
SUBDIR = "linux-64"
"""The platform on which PyTensor's own CI installs from conda first, and the first to be built."""

_COMPILE = (
    "pip", "compile", "--quiet", "--no-header", "--no-annotate", "--no-deps",
    "--only-binary", ":all:", "--prerelease", "disallow", "--python", sys.executable,
)  # fmt: skip
_OLDEST, _NEWEST = 8, 30
"""Minor versions of Python 3 to ask for; the questions end where wheels end."""
_MOST_BYTES = 512 << 20
_PIECE = 1 << 18
_TRIES = 3
_PAUSE = 1.0
"""Seconds before the second try; twice that before the third."""
_MOST_CANDIDATES = 20
"""The newest versions of a channel for which the index is asked."""


class Index:
    """The releases in the package index for a project with this ``requires-python``."""

    def __init__(self, requires_python: str, uv: Uv | None = None) -> None:
        self.requires_python = requires_python
        self._newest = cache(partial(_resolved, uv or RealUv()))

    def newest(self) -> Version:
        """The newest release. Raises NoAnswerError if there is none for any allowed Python."""
        found = [version for _, version in self._offered()]
        if not found:
            raise NoAnswerError(
                f"uv finds no final release of {NAME} with a wheel for this platform and a Python "
                f"that the project allows ({self.requires_python or 'any'})"
            )
        return max(found)

    def within(self, bounds: SpecifierSet) -> Version | None:
        """The newest release within bounds, for any allowed Python; None if there is none."""
        found = [self._newest(f"{NAME}{bounds}", minor) for minor, _ in self._offered()]
        return max((version for version in found if version is not None), default=None)

    def has(self, version: Version) -> bool:
        """Whether a release can be installed on any allowed Python.

        A range is asked for, because ``==`` would select a yanked release too.
        """
        return self.within(SpecifierSet(f">={version},<={version}")) == version

    def _offered(self) -> Iterator[tuple[str, Version]]:
        """Every allowed Python that has wheels, with the newest release for it."""
        begun = False
        for minor in minors(self.requires_python):
            version = self._newest(NAME, minor)
            if version is not None:
                begun = True
                yield minor, version
            elif begun:
                return  # wheels for a newer Python never appear before those for an older one


def _resolved(uv: Uv, requirement: str, minor: str) -> Version | None:
    """The version that uv would install for a Python; None if it finds none."""
    try:
        answer = uv(*_COMPILE, "--python-version", minor, "-", stdin=requirement)
        return Version(answer.strip().partition("==")[2])
    except UvError as error:
        if "unsatisfiable" in error.output and "network was disabled" not in error.output:
            return None
        raise NoAnswerError(f"uv cannot say which {NAME} there is: {error.output}") from error
    except InvalidVersion as error:
        raise NoAnswerError(f"uv's answer to {requirement} cannot be read: {error}") from error


def minors(requires_python: str) -> tuple[str, ...]:
    """The minor versions that a project allows, oldest first. Raises UnsafeError if none.

    >>> minors(">=3.12,<3.15")
    ('3.12', '3.13', '3.14')
    """
    try:
        allowed = SpecifierSet(requires_python)
    except InvalidSpecifier as error:
        raise UnsafeError(
            f"its requires-python is {requires_python!r}, which is not a version specifier"
        ) from error
    found = tuple(
        f"3.{minor}"
        for minor in range(_OLDEST, _NEWEST)
        if any(f"3.{minor}.{patch}" in allowed for patch in range(100))
    )
    if not found:
        raise UnsafeError(f"its requires-python, {requires_python!r}, allows no Python from 3.8 on")
    return found


@dataclass(frozen=True)
class Channel:
    """A channel of conda packages by its base URL. Times are in seconds.

    Raises ValueError for a text that is not the base URL of a channel.
    """

    base: str
    silence: float = 30.0
    time_limit: float = 300.0
    most: int = _MOST_BYTES
    sleep: Callable[[float], None] = time.sleep

    def __post_init__(self) -> None:
        parts = urlsplit(self.base)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("the base URL of a channel begins with http:// or https:// and a host")
        if parts.query or parts.fragment or parts.username is not None:
            raise ValueError("the base URL of a channel has no user, no ? and no #")

    @property
    def name(self) -> str:
        """Its name in messages, which is the host alone: the path may contain a token."""
        return f"the channel at {urlsplit(self.base).hostname}"

    def versions(self, file: str) -> frozenset[Version]:
        """The final releases of numba in an index file of the channel; none if it has no such file.

        Only the small index may be missing. A temporary failure is tried again. Raises
        NoAnswerError if the channel does not answer, or answers something else.
        """
        reason = ""
        for attempt in range(_TRIES):
            if attempt:
                self.sleep(_PAUSE * attempt)
            try:
                status, found = self._read(f"{self.base.rstrip('/')}/{SUBDIR}/{file}")
            except urllib3.exceptions.HTTPError as error:
                reason = reason_of(error)
                continue
            except RepodataError as error:
                raise NoAnswerError(f"{self.name} serves a {file} that {error}") from error
            if status < 400:
                return found
            reason = f"status {status}"
            if status < 500 and status != 429:
                if file == CURRENT:
                    return frozenset()
                reason += "; is the base URL right?"
                break
        raise NoAnswerError(f"{self.name} did not serve its {SUBDIR}/{file}: {reason}")

    def _read(self, url: str) -> tuple[int, frozenset[Version]]:
        ends = time.monotonic() + self.time_limit
        response = pool(url).request(
            "GET", url, headers={"Accept-Encoding": "gzip", "User-Agent": "numba-upper-bound"},
            retries=urllib3.Retry(None, connect=0, read=0, status=0, other=0, redirect=5),
            preload_content=False, timeout=self.silence,
        )  # fmt: skip
        try:
            found = releases(self._pieces(response, ends)) if response.status < 400 else frozenset()
            return response.status, found
        finally:
            response.close()

    def _pieces(self, response: urllib3.BaseHTTPResponse, ends: float) -> Iterator[bytes]:
        """What is served, until the moment ``ends``."""
        size = 0
        # Each piece is bounded after unpacking: a small file can unpack to any size.
        while piece := response.read(_PIECE):
            size += len(piece)
            if size > self.most:
                raise NoAnswerError(f"{self.name} serves more than {self.most} bytes")
            if time.monotonic() > ends:
                raise NoAnswerError(f"{self.name} took longer than {self.time_limit:.0f} s")
            yield piece


@dataclass(frozen=True)
class Target:
    """The release that upper bounds shall end at, where it comes from, and the newest of all."""

    end: Version
    source: str
    newest: Version


def choose(
    index: Index, exclusions: SpecifierSet, wish: Version | None, channel: Channel | None
) -> Target:
    """Choose a release that no pin excludes: ``wish``, or the newest. Raises NoAnswerError."""
    newest = index.newest()
    if wish is not None:
        return Target(wish, _granted(wish, newest, index, channel), newest)
    end = newest if newest in exclusions else index.within(exclusions)
    if end is None:
        raise NoAnswerError(f"the pins exclude every release of numba: {exclusions}")
    source = "the newest final release with a wheel for a Python of this project"
    if channel is not None:
        end = _common(index, exclusions, end, channel)
        source = f"the newest final release that the package index and {channel.name} both have"
    if end != newest:
        source += f"; the newest of all is {newest}"
    return Target(end, source, newest)


def _granted(wish: Version, newest: Version, index: Index, channel: Channel | None) -> str:
    if wish != newest and not index.has(wish):
        raise NoAnswerError(
            f"the package index has no numba {wish} for a Python of this project, or it was "
            f"yanked; the newest is {newest}"
        )
    if channel is not None and wish not in channel.versions(ALL):
        raise NoAnswerError(f"{channel.name} has no numba {wish}")
    return "chosen by --to" if wish == newest else f"chosen by --to; the newest is {newest}"


def _common(index: Index, exclusions: SpecifierSet, most: Version, channel: Channel) -> Version:
    """The newest release that both have, no newer than ``most``."""
    current = max(channel.versions(CURRENT), default=None)
    # The small file skips releases between its newest and those for older Pythons; the other file
    # lists them all.
    if current is not None and current in exclusions and index.has(current):
        return current
    every = channel.versions(ALL)
    if not every:
        raise NoAnswerError(f"{channel.name} has no final release of numba")
    candidates = sorted((v for v in every if v <= most and v in exclusions), reverse=True)
    for version in candidates[:_MOST_CANDIDATES]:
        if index.has(version):
            return version
    raise NoAnswerError(
        f"no release of numba is in both: {channel.name} has {max(every)} and older ones, "
        f"the package index {most}"
    )
