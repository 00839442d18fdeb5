"""One request to GitHub: limits kept, failures told apart, answers read within bounds.

The token goes to the API it was given for and nowhere else: redirects and links to another host
are errors, and what is downloaded from GitHub's storage is asked for without it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any, Protocol
from urllib.parse import urljoin, urlsplit

from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError

from observatory.github import retrying
from observatory.github.errors import GitHubError, MissingError, UnsureError, printable
from observatory.github.wire import Answer, is_loopback, once

_VERSION = "2022-11-28"
_LARGEST_ANSWER = 64 * 2**20
_MOST_PAGES = 200
_MOST_REDIRECTS = 3
_PATIENCE = 900.0
"""Seconds that one command waits for GitHub in all."""
_BETWEEN_WRITES = 1.0
"""Seconds, as GitHub asks for; writing faster calls for its secondary limits."""
_WRITES = ("POST", "PATCH", "PUT", "DELETE")
_REPEATABLE = ("GET", "PATCH", "PUT", "DELETE")
_NEXT = re.compile(r'<([^<>]+)>\s*;[^,]*\brel="?next"?')
_HELP = "docs/github.md names the permissions that the token needs"


class Clock(Protocol):
    """The time, and how it passes."""

    def now(self) -> float:
        """Seconds since 1970."""

    def sleep(self, seconds: float) -> None:
        """Return after so many seconds."""


class SystemClock:
    """The machine's."""

    def now(self) -> float:
        """Seconds since 1970."""
        return time.time()

    def sleep(self, seconds: float) -> None:
        """Return after so many seconds."""
        time.sleep(seconds)


class Transport:
    """Requests to one API with one token; not for several threads at once.

    Raises GitHubError where the address is none that a token may be sent to.
    """

    def __init__(self, api: str, token: str, clock: Clock) -> None:
        self.api = api.rstrip("/")
        self.clock = clock
        self._patience = _PATIENCE
        self._written = 0.0
        where = urlsplit(self.api)
        if where.scheme != "https" and not (where.scheme == "http" and is_loopback(where.hostname)):
            raise GitHubError(
                f"{printable(api)} is no address that a token may be sent to: it begins with "
                "https:// (or is this machine itself)"
            )
        self._headers = {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {token}",
            "User-Agent": "observatory-compile-caches",
            "X-GitHub-Api-Version": _VERSION,
        }

    def send(
        self,
        method: str,
        path: str,
        doing: str,
        body: object = None,
        *,
        repeatable: bool | None = None,
    ) -> Answer:
        """Send a request, and again where waiting helps; ``doing`` names it in errors.

        ``path`` is below the API, or the address of a next page of it. ``repeatable``: whether
        doing it twice is as good as once; default: all but POST.

        Raises MissingError for 404 and 410, UnsureError for a write of which the outcome is not
        known, GitHubError for the rest.
        """
        repeatable = method in _REPEATABLE if repeatable is None else repeatable
        url, redirects, attempt = self._url(path, doing), 0, 0
        while True:
            self._pace(method)
            answer = self._asked(method, url, doing, body, repeatable, attempt)
            if answer is None:
                attempt += 1
                continue
            if answer.status in (301, 307, 308) and redirects < _MOST_REDIRECTS:
                # A repository that was renamed; GitHub wants the same method on the new address.
                url = self._url(urljoin(url, answer.headers.get("location", "")), doing)
                redirects += 1
                continue
            if answer.status < 300 or answer.status == HTTPStatus.FOUND:
                return answer
            wait = retrying.pause(
                answer.status, answer.headers, answer.message(),
                repeatable=repeatable, attempt=attempt, now=self.clock.now(),
            )  # fmt: skip
            if wait is None:
                raise _error(answer, doing, repeatable)
            self.wait(wait, doing)
            attempt += 1

    def pages(self, path: str, doing: str) -> Iterator[bytes]:
        """Every page of a list, 100 entries each, followed by the `Link` header."""
        following = f"{path}{'&' if '?' in path else '?'}per_page=100"
        for _ in range(_MOST_PAGES):
            answer = self.send("GET", following, doing)
            yield answer.content
            found = _NEXT.search(answer.headers.get("link", ""))
            if found is None:
                return
            following = found[1]
        raise GitHubError(f"GitHub has more than {_MOST_PAGES} pages to {doing}: that is too much")

    def download(self, path: str, doing: str, most: int) -> bytes:
        """What a path redirects to, at most so many bytes; the storage gets no token."""
        target = self.send("GET", path, doing).headers.get("location", "")
        scheme = urlsplit(target).scheme
        if scheme != "https" and scheme != urlsplit(self.api).scheme:
            raise GitHubError(f"GitHub gave no address to {doing}")
        for attempt in range(retrying.SERVER_REPEATS):
            try:
                answer = once("GET", target, {}, None, most)
            except HTTPError:
                self.wait(2.0**attempt, doing)
                continue
            if answer.status == HTTPStatus.OK:
                return answer.content
            if answer.status < 500:
                raise GitHubError(f"GitHub's storage answers {answer.status} to {doing}")
            self.wait(2.0**attempt, doing)
        raise GitHubError(f"GitHub's storage does not answer to {doing}; run it again")

    def wait(self, seconds: float, doing: str) -> None:
        """Wait, unless that is more than one command may wait in all. Raises GitHubError then."""
        if seconds > self._patience:
            raise GitHubError(
                f"GitHub wants {max(1, round(seconds / 60))} min to pass before it lets us "
                f"{doing}: run it again after that"
            )
        self._patience -= seconds
        self.clock.sleep(seconds)

    def _asked(
        self, method: str, url: str, doing: str, body: object, repeatable: bool, attempt: int
    ) -> Answer | None:
        """The answer; None if none came, and it is time to ask again."""
        try:
            return once(method, url, self._headers, body, _LARGEST_ANSWER)
        except HTTPError as error:
            why = printable(str(error).rpartition(": ")[2] or type(error).__name__)
            unsent = isinstance(error, NewConnectionError | ConnectTimeoutError)
            if not (unsent or repeatable):
                raise UnsureError(f"GitHub did not answer when asked to {doing}: {why}") from error
            if attempt >= retrying.SERVER_REPEATS:
                raise GitHubError(
                    f"GitHub cannot be reached to {doing}: {why}; run it again"
                ) from error
        self.wait(2.0**attempt, doing)
        return None

    def _pace(self, method: str) -> None:
        if method in _WRITES:
            early = self._written + _BETWEEN_WRITES - self.clock.now()
            if 0 < early <= _BETWEEN_WRITES:
                self.clock.sleep(early)
            self._written = self.clock.now()

    def _url(self, path: str, doing: str) -> str:
        url = path if "://" in path else f"{self.api}{path}"
        here, there = urlsplit(self.api), urlsplit(url)
        if (here.scheme, here.netloc) != (there.scheme, there.netloc):
            raise GitHubError(f"GitHub's answer leads to another host when asked to {doing}")
        return url


def _error(answer: Answer, doing: str, repeatable: bool) -> GitHubError:
    status, said = answer.status, answer.message()
    told = f"{status}: {said}" if said else f"{status}"
    if retrying.limited(status, answer.headers, said):
        return GitHubError(f"GitHub's limits do not let us {doing} ({told}); run it again later")
    match status:
        case 401:
            return GitHubError(f"GitHub does not accept the token in GITHUB_TOKEN ({told})")
        case 403:
            return GitHubError(f"GitHub does not allow the token to {doing} ({told}); {_HELP}")
        case 404 | 410:
            return MissingError(
                f"GitHub finds nothing when asked to {doing} ({told}); it is not there, or the "
                f"token may not see it: {_HELP}"
            )
    if status >= 500:
        if not repeatable:
            return UnsureError(f"GitHub failed when asked to {doing} ({told}); it may be done")
        return GitHubError(f"GitHub fails when asked to {doing} ({told}); run it again")
    return GitHubError(f"GitHub does not {doing} ({told})")


def graphql_address(api: str) -> str:
    """Where GraphQL is: beside the REST API; on GitHub Enterprise Server, instead of its v3.

    >>> graphql_address("https://api.github.com"), graphql_address("https://ghe.example/api/v3")
    ('https://api.github.com/graphql', 'https://ghe.example/api/graphql')
    """
    return f"{api.removesuffix('/v3')}/graphql"


def problems_of(answer: dict[str, Any]) -> tuple[set[str], str]:
    """The kinds of a GraphQL answer's errors, and what they say."""
    errors = [error for error in answer.get("errors") or () if isinstance(error, dict)]
    kinds = {str(error.get("type", "")) for error in errors}
    return kinds, printable("; ".join(str(error.get("message", "")) for error in errors))
