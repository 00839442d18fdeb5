"""The lock for measuring when several subjects of one run hold it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from observatory.run.local import Shared


def test_the_last_subject_that_holds_it_releases_it() -> None:
    events: list[str] = []

    @contextlib.contextmanager
    def lock() -> Iterator[None]:
        events.append("locked")
        yield
        events.append("released")

    shared = Shared()
    with contextlib.ExitStack() as first, contextlib.ExitStack() as second:
        first.enter_context(shared(lock()))
        second.enter_context(shared(lock()))
        first.close()
        assert events == ["locked"]
        second.close()
        assert events == ["locked", "released"]
    with shared(lock()):
        assert events[2:] == ["locked"]


def test_a_subject_that_cannot_get_it_leaves_it_to_the_next() -> None:
    @contextlib.contextmanager
    def lock(*, broken: bool) -> Iterator[None]:
        if broken:
            raise OSError("no such directory")
        yield

    shared = Shared()
    with pytest.raises(OSError, match="no such directory"), shared(lock(broken=True)):
        pass
    with shared(lock(broken=False)):
        assert shared._users == 1
