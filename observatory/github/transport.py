"""Requests to GitHub: within its limits, repeated where that is safe, answers within bounds.

The token goes to its API alone: redirects and links to another host are errors. The rules for
waiting are those of GitHub's "Best practices for using the REST API": `retry-after` first, then
`x-ratelimit-reset` where nothing remains, else a minute that doubles. A failure of the server is
repeated only where repeating cannot do a thing twice.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from functools import partial
from http import HTTPStatus
from urllib.parse import SplitResult, urljoin, urlsplit

from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError

from observatory.github.http import (
    LONGEST,
    Answer,
    GitHubError,
    MissingError,
    UnsureError,
    is_loopback,
    reason_of,
    request,
)
from observatory.text.plain import shorten

SERVER_REPEATS = 4
LIMIT_REPEATS = 5
_LARGEST_ANSWER = 24 * 2**20
"""Bytes of one: a page of 100 comments of 65,536 characters, of three bytes each, is smaller."""
_MOST_PAGES = 200
_MOST_REDIRECTS = 3
_MINUTE = 60.0
_PATIENCE = 15 * _MINUTE
"""Seconds that one command waits for GitHub in total."""
_MOST_SAID = 86_400.0
_BETWEEN_WRITES = 1.0
"""Seconds that GitHub asks for; faster writes meet its secondary limits."""
_WRITES = ("POST", "PATCH", "PUT", "DELETE")
# Without "<" in the middle: from each of many beginnings all the rest would be looked through.
_NEXT = re.compile(r'<([^<>]+)>\s*;[^,<]*\brel="?next"?')
_SECONDARY = ("secondary rate limit", "abuse detection")
_UNSURE = "it may be done"
_HELP = "it may need the right to write issues, pull requests or checks, or to read workflow runs"


class Clock:
    """The machine's clock; tests have one of their own."""

    def now(self) -> float:
        """Seconds since 1970."""
        return time.time()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)


class Transport:
    """Requests to one API with one token, in one thread.

    Raises GitHubError for an address that must not receive a token.
    """

    def __init__(self, api: str, token: str, clock: Clock) -> None:
        self.api = api.rstrip("/")
        self.clock = clock
        self._patience = _PATIENCE
        self._written = 0.0
        parts = _parts(self.api, f"reach {shorten(api, LONGEST)}")
        if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname)):
            raise GitHubError(
                f"the token is not sent to {shorten(api, LONGEST)}: use an address that begins "
                "with https:// (or is this machine itself)"
            )
        self._headers = {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {token}",
            "User-Agent": "pytensor-observatory",
            "X-GitHub-Api-Version": "2022-11-28",
        }

    def send(
        self, method: str, path: str, doing: str, body: object = None,
        *, repeatable: bool | None = None, found: bool = False,
    ) -> Answer:  # fmt: skip
        """Send a request, and repeat it where waiting helps; ``doing`` describes it in errors.

        ``path`` is below the API, or the address of a next page. ``repeatable``: whether doing it
        twice is as good as once; by default for all but POST. ``found``: whether the address of a
        file (302) is an answer; of anything else, its content would be taken for the answer.

        Raises MissingError for 404 and 410, UnsureError for a write whose outcome is not known,
        and GitHubError for the rest.
        """
        repeatable = method != "POST" if repeatable is None else repeatable
        ask = partial(request, method, headers=self._headers, body=body, most=_LARGEST_ANSWER)
        writes = method in _WRITES
        return self._answered(ask, self._url(path, doing), doing, writes, repeatable, found)

    def _answered(
        self, ask: Callable[[str], Answer], url: str, doing: str, writes: bool, repeatable: bool,
        found: bool,
    ) -> Answer:  # fmt: skip
        redirects = attempt = 0
        wait: float | None
        while True:
            if writes:
                self._pace()
            try:
                answer = ask(url)
            except HTTPError as error:
                sure = repeatable or isinstance(error, NewConnectionError | ConnectTimeoutError)
                if not sure or attempt >= SERVER_REPEATS:
                    kind, advice = (GitHubError, "run it again") if sure else (UnsureError, _UNSURE)
                    reason = f"GitHub does not answer when asked to {doing}: {reason_of(error)}"
                    raise kind(f"{reason}; {advice}") from error
                wait = 2.0**attempt
            else:
                if answer.status in (301, 307, 308) and redirects < _MOST_REDIRECTS:
                    # A renamed repository; GitHub wants the same method at the new address.
                    url = self._url(_joined(url, answer.headers.get("location", ""), doing), doing)
                    redirects += 1
                    continue
                if answer.status < 300 or (found and answer.status == HTTPStatus.FOUND):
                    return answer
                wait = pause(
                    answer.status, answer.headers, answer.message(),
                    repeatable=repeatable, attempt=attempt, now=self.clock.now(),
                )  # fmt: skip
                if wait is None:
                    raise _error(answer, doing, repeatable)
            self.wait(wait, doing)
            attempt += 1

    def pages(self, path: str, doing: str) -> Iterator[bytes]:
        """Every page of a list, with 100 entries each, following the `Link` header."""
        following = f"{path}{'&' if '?' in path else '?'}per_page=100"
        for _ in range(_MOST_PAGES):
            answer = self.send("GET", following, doing)
            yield answer.content
            found = _NEXT.search(answer.headers.get("link", ""))
            if found is None:
                return
            following = found[1]
        raise GitHubError(f"GitHub has more than {_MOST_PAGES} pages to {doing}, which is too many")

    def download(self, path: str, doing: str, most: int) -> bytes:
        """The file that a path redirects to, of at most ``most`` bytes."""
        target = self.send("GET", path, doing, found=True).headers.get("location", "")
        if _parts(target, doing).scheme not in ("https", urlsplit(self.api).scheme):
            raise GitHubError(f"GitHub's answer contains no address to {doing}")
        ask = partial(request, "GET", headers={}, body=None, most=most)
        answer = self._answered(ask, target, doing, writes=False, repeatable=True, found=True)
        if answer.status != HTTPStatus.OK:
            raise GitHubError(f"GitHub's storage answers {answer.status} when asked to {doing}")
        return answer.content

    def wait(self, seconds: float, doing: str) -> None:
        """Wait. Raises GitHubError if this command would wait for too long in total."""
        if seconds > self._patience:
            raise GitHubError(
                f"GitHub asks to wait {_minutes(seconds)} before it lets us {doing}: "
                "run the command again after that"
            )
        self._patience -= seconds
        self.clock.sleep(seconds)

    def _pace(self) -> None:
        early = self._written + _BETWEEN_WRITES - self.clock.now()
        if 0 < early <= _BETWEEN_WRITES:
            self.clock.sleep(early)
        self._written = self.clock.now()

    def _url(self, path: str, doing: str) -> str:
        url = path if "://" in path else f"{self.api}{path}"
        here, there = urlsplit(self.api), _parts(url, doing)
        if (here.scheme, here.netloc) != (there.scheme, there.netloc):
            raise GitHubError(f"GitHub's answer leads to another host when asked to {doing}")
        return url


def _parts(url: str, doing: str) -> SplitResult:
    """The parts of an address that came from outside. Raises GitHubError if it is none."""
    try:
        parts = urlsplit(url)
        _ = parts.port, parts.hostname  # both are looked at only here
    except ValueError as error:
        raise GitHubError(f"an address that cannot be read is given to {doing}") from error
    return parts


def _joined(url: str, location: str, doing: str) -> str:
    _parts(location, doing)
    return urljoin(url, location)


def pause(
    status: int, headers: Mapping[str, str], message: str,
    *, repeatable: bool, attempt: int, now: float,
) -> float | None:  # fmt: skip
    """Seconds to wait before the same request is repeated; None if it is not to be repeated.

    ``attempt`` counts from 0, ``now`` is in seconds since 1970, ``headers`` ignore case.
    """
    asked = _retry_after(headers, now)
    if limited(status, headers, message):
        # A request that a limit turned away was not carried out, so it may always be repeated.
        if attempt >= LIMIT_REPEATS:
            return None
        if asked is None and headers.get("x-ratelimit-remaining") == "0":
            asked = until_reset(headers, now)
        return _MINUTE * 2**attempt if asked is None else asked
    if status >= 500 and repeatable and attempt < SERVER_REPEATS:
        return float(2**attempt) if asked is None else asked
    return None


def _minutes(seconds: float) -> str:
    minutes = max(1, round(min(seconds, _MOST_SAID) / 60))
    return f"{minutes} min" if seconds < _MOST_SAID else f"more than {minutes} min"


def limited(status: int, headers: Mapping[str, str], message: str) -> bool:
    """Whether GitHub refused because of too many requests, and not for lack of permission."""
    return status == 429 or (
        status == 403
        and (
            "retry-after" in headers
            or headers.get("x-ratelimit-remaining") == "0"
            or any(words in message.lower() for words in _SECONDARY)
        )
    )


def until_reset(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds until the hourly limit is reset; None if GitHub does not say."""
    try:
        reset = float(headers.get("x-ratelimit-reset", ""))
    except ValueError:
        return None
    # One second more, because the clocks of both sides differ.
    return max(0.0, reset - now) + 1 if math.isfinite(reset) else None


def _retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds, from a number or a date; None if there is none or it is neither."""
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, moment.timestamp() - now)


def _error(answer: Answer, doing: str, repeatable: bool) -> GitHubError:
    status, message = answer.status, answer.message()
    reason = f"{status}: {message}" if message else f"{status}"
    if limited(status, answer.headers, message):
        return GitHubError(f"GitHub's limits do not let us {doing} ({reason}); run it again later")
    if status == HTTPStatus.UNAUTHORIZED:
        return GitHubError(f"GitHub does not accept the token in GITHUB_TOKEN ({reason})")
    if status == HTTPStatus.FORBIDDEN:
        return GitHubError(f"GitHub does not allow the token to {doing} ({reason}); {_HELP}")
    if status in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE):
        return MissingError(
            f"GitHub finds nothing when asked to {doing} ({reason}); it does not exist, or the "
            f"token may not see it: {_HELP}"
        )
    if status >= 500:
        kind, advice = (GitHubError, "run it again") if repeatable else (UnsureError, _UNSURE)
        return kind(f"GitHub fails when asked to {doing} ({reason}); {advice}")
    return GitHubError(f"GitHub rejected the request to {doing} ({reason})")
