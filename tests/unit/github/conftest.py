"""A GitHub on loopback, a clock that nobody waits for, and somebody who asks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from observatory.github.client import GitHub
from observatory.github.transport import Transport
from tests.fake_github import REPO, TOKEN, FakeClock, FakeGitHub


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def fake(clock: FakeClock) -> Iterator[FakeGitHub]:
    with FakeGitHub(clock) as running:
        yield running


@pytest.fixture
def github(fake: FakeGitHub, clock: FakeClock) -> GitHub:
    return GitHub(Transport(fake.url, TOKEN, clock), REPO)
