"""How long to wait for GitHub, and when not to."""

from __future__ import annotations

import pytest

from observatory.github.transport import LIMIT_REPEATS, SERVER_REPEATS, limited, pause

NOW = 1_795_000_000.0
SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes."


def wait(
    status: int, message: str = "", repeatable: bool = True, attempt: int = 0, **headers: str
) -> float | None:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return pause(status, named, message, repeatable=repeatable, attempt=attempt, now=NOW)


@pytest.mark.parametrize("status", [403, 429])
def test_retry_after_is_kept_whatever_else_is_said(status: int) -> None:
    assert wait(status, retry_after="17", x_ratelimit_remaining="0") == 17


def test_retry_after_may_be_a_date() -> None:
    assert wait(503, retry_after="Wed, 18 Nov 2026 12:00:00 GMT") == pytest.approx(
        max(0, 1_795_003_200 - NOW)
    )


@pytest.mark.parametrize("odd", ["soon", "-5", "", "1e9", "²"])
def test_a_retry_after_that_is_no_time_is_a_minute(odd: str) -> None:
    assert wait(429, retry_after=odd) == 60


def test_the_primary_limit_lasts_until_it_is_reset() -> None:
    assert wait(403, x_ratelimit_remaining="0", x_ratelimit_reset=str(int(NOW) + 90)) == 91


def test_a_reset_that_is_over_or_is_no_time_does_not_wait_backwards() -> None:
    assert wait(403, x_ratelimit_remaining="0", x_ratelimit_reset=str(int(NOW) - 90)) == 1
    assert wait(403, x_ratelimit_remaining="0", x_ratelimit_reset="nan") == 60


def test_the_secondary_limit_is_a_minute_that_doubles() -> None:
    waits = [wait(403, SECONDARY, attempt=n) for n in range(LIMIT_REPEATS + 1)]
    assert waits == [60, 120, 240, 480, 960, None]


def test_a_missing_permission_is_no_limit() -> None:
    assert wait(403, "Resource not accessible by integration") is None
    assert not limited(403, {"x-ratelimit-remaining": "4999"}, "Resource not accessible")


def test_what_a_limit_turned_away_is_repeated_even_if_it_makes_something() -> None:
    assert wait(403, SECONDARY, repeatable=False) == 60
    assert wait(429, repeatable=False, retry_after="3") == 3


def test_a_failure_of_the_server_is_repeated_only_where_twice_is_as_good_as_once() -> None:
    assert [wait(502, attempt=n) for n in range(SERVER_REPEATS + 1)] == [1, 2, 4, 8, None]
    assert wait(502, repeatable=False) is None


@pytest.mark.parametrize("status", [400, 401, 404, 410, 422])
def test_a_mistake_is_not_repeated(status: int) -> None:
    assert wait(status, retry_after="1") is None
