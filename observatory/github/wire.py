"""One request on the wire, and its answer read within bounds; nothing is repeated here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3

from observatory.github.errors import GitHubError, printable


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    def message(self) -> str:
        """GitHub's own words about a failure, with its complaints about single fields."""
        try:
            said = json.loads(self.content)
        except (ValueError, RecursionError):
            return ""
        if not isinstance(said, dict):
            return ""
        errors = said.get("errors")
        details = [
            error.get("message", "") if isinstance(error, dict) else error
            for error in (errors if isinstance(errors, list) else ())
        ]
        return printable("; ".join(str(word) for word in (said.get("message"), *details) if word))


def once(method: str, url: str, headers: Mapping[str, str], body: object, most: int) -> Answer:
    """Send one request; returns its answer, whatever that is.

    Each has a connection of its own: one that was kept may be closed just when it is used again,
    and then nobody knows whether a comment was made. Raises urllib3's HTTPError, and GitHubError
    for an answer of more than ``most`` bytes.
    """
    given = dict(headers)
    content = None
    if body is not None:
        content = json.dumps(body).encode()
        given["Content-Type"] = "application/json"
    response = _pool(url).request(
        method, url, body=content, headers=given, redirect=False, retries=False,
        preload_content=False, timeout=urllib3.Timeout(connect=10, read=60),
    )  # fmt: skip
    try:
        read = bytearray()
        while chunk := response.read(2**16):
            read += chunk
            if len(read) > most:
                raise GitHubError(f"GitHub's answer is larger than {most:,} bytes: {method}")
    finally:
        response.close()
    return Answer(response.status, response.headers, bytes(read))


def _pool(url: str) -> urllib3.PoolManager:
    """A connection as the environment wants it: through a proxy, but never to this machine."""
    where = urlsplit(url)
    host = where.hostname or ""
    proxy = getproxies().get(where.scheme)
    if proxy and not is_loopback(host) and not proxy_bypass(host):
        return urllib3.ProxyManager(proxy)
    return urllib3.PoolManager()


def is_loopback(host: str | None) -> bool:
    """Whether a host is this machine."""
    try:
        return host == "localhost" or ip_address(host or "").is_loopback
    except ValueError:
        return False
