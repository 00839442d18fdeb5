"""What an answer of GitHub means for the next request: go on, wait and repeat, or give up.

The rules are those of GitHub's "Best practices for using the REST API": `retry-after` first, then
`x-ratelimit-reset` where nothing remains, else a minute that doubles. A failure of the server is
repeated only where repeating cannot do a thing twice.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime

SERVER_REPEATS = 4
LIMIT_REPEATS = 5
_MINUTE = 60.0
_SECONDARY = ("secondary rate limit", "abuse detection")


def pause(
    status: int,
    headers: Mapping[str, str],
    message: str,
    *,
    repeatable: bool,
    attempt: int,
    now: float,
) -> float | None:
    """Seconds to wait before the same request is sent again; None if it is not to be repeated.

    ``attempt`` counts from 0, ``now`` is in seconds since 1970, ``headers`` ignore case.
    """
    if limited(status, headers, message):
        # What a limit turned away was not done: it may be repeated whatever it is.
        return _of_limit(headers, attempt, now) if attempt < LIMIT_REPEATS else None
    if status >= 500 and repeatable and attempt < SERVER_REPEATS:
        asked = _retry_after(headers, now)
        return float(2**attempt) if asked is None else asked
    return None


def limited(status: int, headers: Mapping[str, str], message: str) -> bool:
    """Whether GitHub turned the request away for there being too many; not for permissions."""
    if status == 429:
        return True
    return status == 403 and (
        "retry-after" in headers
        or headers.get("x-ratelimit-remaining") == "0"
        or any(words in message.lower() for words in _SECONDARY)
    )


def until_reset(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds until the hour's requests are counted anew; None if GitHub does not say."""
    try:
        reset = float(headers.get("x-ratelimit-reset", ""))
    except ValueError:
        return None
    # A second more: the clocks of both sides are not the same.
    return max(0.0, reset - now) + 1 if math.isfinite(reset) else None


def _of_limit(headers: Mapping[str, str], attempt: int, now: float) -> float:
    asked = _retry_after(headers, now)
    if asked is None and headers.get("x-ratelimit-remaining") == "0":
        asked = until_reset(headers, now)
    return _MINUTE * 2**attempt if asked is None else asked


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
