"""One HTTP request, and its answer read within bounds; nothing is repeated here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPException
from ipaddress import ip_address
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3
from urllib3.exceptions import HTTPError

from observatory.errors import Exit, ObservatoryError
from observatory.store.base.decode import NotJsonError, decoded
from observatory.text.plain import shorten

LONGEST = 300
"""Characters of a foreign text in a message."""


class GitHubError(ObservatoryError):
    """A request to GitHub failed; the message says what was asked, and what to do."""

    exit_code = Exit.GITHUB


class MissingError(GitHubError):
    """The thing does not exist, was deleted, or may not be seen with this token."""


class UnsureError(GitHubError):
    """A write got no answer: it may have been carried out or not."""


@dataclass(frozen=True)
class Answer:
    """The answer to a request."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    def message(self) -> str:
        """GitHub's explanation of a failure, with its complaints about single fields."""
        try:
            answer = decoded(self.content)
        except NotJsonError:
            return ""
        if not isinstance(answer, dict):
            return ""
        errors = answer.get("errors")
        details = [
            error.get("message", "") if isinstance(error, dict) else error
            for error in (errors if isinstance(errors, list) else ())
        ]
        words = (str(word) for word in (answer.get("message"), *details) if word)
        return shorten("; ".join(words), LONGEST)


def request(method: str, url: str, headers: Mapping[str, str], body: object, most: int) -> Answer:
    """Send one request and return the answer, whatever its status is.

    Each request opens a connection: a connection that was kept open can close just as it is used
    again, and then nobody knows whether a comment was written. Raises urllib3's HTTPError, and
    GitHubError for an answer of more than ``most`` bytes.
    """
    try:
        response = pool(url).request(
            method, url, json=body, headers=headers, redirect=False, retries=False,
            preload_content=False, timeout=urllib3.Timeout(connect=10, read=60),
        )  # fmt: skip
    except HTTPError:
        raise
    # An address, which an answer gave, that urllib3 takes and the layers below it do not.
    except (ValueError, HTTPException) as error:
        raise GitHubError(f"an address of GitHub's cannot be used: {reason_of(error)}") from error
    content = bytearray()
    try:
        while chunk := response.read(2**16):
            content += chunk
            if len(content) > most:
                raise GitHubError(f"GitHub's answer to {method} is larger than {most:,} bytes")
    finally:
        response.close()
    return Answer(response.status, response.headers, bytes(content))


def pool(url: str) -> urllib3.PoolManager:
    """A connection for a URL: through the environment's proxy, except to this machine."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    proxy = getproxies().get(parts.scheme)
    if proxy and not is_loopback(host) and not proxy_bypass(host):
        return urllib3.ProxyManager(proxy)
    return urllib3.PoolManager()


def reason_of(error: Exception) -> str:
    """The reason for a failed request: the last part of what urllib3 says."""
    reason = str(error).rpartition(": ")[2].rstrip("')")
    return shorten(reason or type(error).__name__, LONGEST)


def is_loopback(host: str | None) -> bool:
    """Whether a host is this machine."""
    try:
        return host == "localhost" or ip_address(host or "").is_loopback
    except ValueError:
        return False
