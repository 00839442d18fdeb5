"""One run at a time on a machine: two at once would spoil each other's times."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

from observatory.store.base.locking import locked

_PLACE = Path("/tmp")  # noqa: S108 - nothing is written there
"""The directory whose lock is the mutex: every user can open it, and nothing is left behind."""


@contextlib.contextmanager
def alone(say: Callable[[str], None]) -> Iterator[None]:
    """Hold this machine's lock for measuring.

    If another run holds it, this calls ``say`` once with a sentence and waits. The lock ends with
    the process that holds it, however that ends (see `observatory.store.base.locking`).
    """
    waiting = "another run is measuring on this machine; waiting for it to end"
    with locked(_PLACE, lambda: say(waiting)):
        yield
