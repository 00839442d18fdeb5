"""The numba that upper bounds end at: the newest, the newest that a conda channel has, or a wish.

The layout is that of conda's CEP 26 and 36: ``BASE/SUBDIR/repodata.json`` lists every package,
``current_repodata.json`` beside it the newest of each, in a tenth of the size. Both hold
``packages`` and ``packages.conda``: file names, and for each a record with ``name`` and
``version``. A channel is a stranger: sizes and times are bounded, and shapes are checked.
"""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

import orjson
from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from observatory.numba_bound.pins import NAME
from observatory.numba_bound.released import NoAnswerError, Released

CURRENT, ALL = "current_repodata.json", "repodata.json"
SUBDIR = "linux-64"
"""The platform on which PyTensor's own CI installs from conda first, and the first to be built."""

_MOST_BYTES = 512 << 20
_CHUNK = 1 << 18
_TRIES = 3
_MOST_TRIES = 20
"""Versions of a channel that the index is asked for, the newest first."""
_PAUSE = 1.0
"""Seconds before the second try; twice that before the third."""


@dataclass(frozen=True)
class Channel:
    """A channel of conda packages by its base URL. Times are in seconds."""

    base: str
    silence: float = 30.0
    time_limit: float = 300.0
    most: int = _MOST_BYTES
    sleep: Callable[[float], None] = time.sleep

    def __post_init__(self) -> None:
        """Raise `ValueError` for what is no base URL of a channel."""
        parts = urlsplit(self.base)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("the base URL of a channel begins with http:// or https:// and a host")
        if parts.query or parts.fragment or parts.username is not None:
            raise ValueError("the base URL of a channel has no user, no ? and no #")

    @property
    def name(self) -> str:
        """How it is named to people: the path of a URL may hold a token."""
        return f"the channel at {urlsplit(self.base).hostname}"

    def versions(self, file: str) -> frozenset[Version]:
        """The final releases of numba in one of its indexes.

        Raises `NoAnswerError` if it does not answer, or with something else.
        """
        content = self._fetched(file)
        try:
            data: object = orjson.loads(content or b"{}")
        except orjson.JSONDecodeError as error:
            raise NoAnswerError(f"{self.name} serves a {file} that is no JSON: {error}") from error
        if not isinstance(data, dict):
            raise NoAnswerError(f"{self.name} serves a {file} that is no JSON object")
        return frozenset(_final(data))

    def _fetched(self, file: str) -> bytes:
        """The file, empty if it is one that need not be there; what may pass is tried again."""
        said = ""
        for attempt in range(_TRIES):
            if attempt:
                self.sleep(_PAUSE * attempt)
            try:
                return self._read(f"{self.base.rstrip('/')}/{SUBDIR}/{file}")
            except urllib.error.HTTPError as error:
                error.close()
                said = f"status {error.code}"
                if error.code < 500 and error.code != 429:
                    if file == CURRENT:
                        return b""
                    said += "; is that its base URL?"
                    break
            except (OSError, http.client.HTTPException, zlib.error) as error:
                reason = error.reason if isinstance(error, urllib.error.URLError) else error
                said = str(reason) or type(reason).__name__
        raise NoAnswerError(f"{self.name} did not give its {SUBDIR}/{file}: {said}")

    def _read(self, url: str) -> bytes:
        ends = time.monotonic() + self.time_limit
        headers = {"Accept-Encoding": "gzip", "User-Agent": "numba-upper-bound"}
        request = urllib.request.Request(url, headers=headers)  # noqa: S310 (see __post_init__)
        content = bytearray()
        with _opener().open(request, timeout=self.silence) as answer:
            packed = answer.headers.get("Content-Encoding", "") == "gzip"
            unpack = zlib.decompressobj(wbits=31) if packed else None
            while chunk := answer.read(_CHUNK):
                # No more is unpacked than may be kept: a small file can unpack to any size.
                room = self.most + 1 - len(content)
                content += unpack.decompress(chunk, room) if unpack else chunk
                if len(content) > self.most:
                    raise NoAnswerError(f"{self.name} serves more than {self.most} bytes")
                if time.monotonic() > ends:
                    raise NoAnswerError(f"{self.name} was not done after {self.time_limit:.0f} s")
            # Reading in parts, http.client takes a connection that breaks for the end.
            if answer.length or (unpack and not unpack.eof):
                raise http.client.IncompleteRead(b"")
        return bytes(content)


def _opener() -> urllib.request.OpenerDirector:
    """Opens http and https, through the proxy of the environment; no files, no ftp, no data."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPRedirectHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.UnknownHandler(),
    ):
        opener.add_handler(handler)
    return opener


def _final(data: dict[str, object]) -> Iterator[Version]:
    removed = data.get("removed")
    gone = {name for name in removed if isinstance(name, str)} if isinstance(removed, list) else ()
    for key in ("packages", "packages.conda"):
        records = data.get(key)
        for file, record in records.items() if isinstance(records, dict) else ():
            if isinstance(record, dict) and record.get("name") == NAME and file not in gone:
                try:
                    version = Version(str(record.get("version")))
                except InvalidVersion:
                    continue  # conda's versions are freer than Python's
                if not version.is_prerelease and version.local is None:
                    yield version


@dataclass(frozen=True)
class Chosen:
    """A release, where it comes from as half a sentence, and the newest that can be installed."""

    end: Version
    source: str
    newest: Version


def choose(
    released: Released, but: SpecifierSet, wish: Version | None, channel: Channel | None
) -> Chosen:
    """Choose the release; ``but`` are those that a pin excludes. Raises `NoAnswerError`."""
    newest = released.newest()
    if wish is not None:
        return Chosen(wish, _granted(wish, newest, released, channel), newest)
    end = newest if newest in but else released.within(but)
    if end is None:
        raise NoAnswerError(f"every release of numba is excluded by {but}")
    where = "the newest final release with a wheel for a Python of this project"
    if channel is not None:
        end = _common(released, but, end, channel)
        where = f"the newest final release that the package index and {channel.name} both have"
    if end != newest:
        where += f"; the newest of all is {newest}"
    return Chosen(end, where, newest)


def _granted(wish: Version, newest: Version, released: Released, channel: Channel | None) -> str:
    if wish != newest and not released.has(wish):
        raise NoAnswerError(
            f"the package index has no numba {wish} for a Python of this project, or it was "
            f"yanked; the newest is {newest}"
        )
    if channel is not None and wish not in channel.versions(ALL):
        raise NoAnswerError(f"{channel.name} has no numba {wish}")
    return "chosen by --to" if wish == newest else f"chosen by --to; the newest is {newest}"


def _common(released: Released, but: SpecifierSet, most: Version, channel: Channel) -> Version:
    """The newest release of both, no newer than ``most``."""
    current = channel.versions(CURRENT)
    # The small index holds older releases only where a Python has no newer one: between these
    # and its newest, the other index may have some.
    if current and max(current) in but and released.has(max(current)):
        return max(current)
    every = channel.versions(ALL)
    if not every:
        raise NoAnswerError(f"{channel.name} has no final release of numba")
    older = sorted((v for v in every if v <= most and v in but), reverse=True)
    for version in older[:_MOST_TRIES]:
        if released.has(version):
            return version
    raise NoAnswerError(
        f"no release of numba is in both: {channel.name} has {max(every)} and older ones, "
        f"the package index {most}"
    )
