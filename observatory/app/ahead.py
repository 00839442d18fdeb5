"""Preparing what may be measured next while something else is measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from observatory.store.records.subject import Subject


@dataclass
class Ahead:
    """Prepares subjects in a thread, one at a time."""

    prepare: Callable[[Subject], None]
    """Raises nothing: whatever is wrong with a subject is told when it is measured."""
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "ahead"))
    _wanted: list[Future[None]] = field(default_factory=list)

    def begin(self, subjects: Iterable[Subject]) -> None:
        """Prepare these next; what was asked for before and has not begun is left out."""
        for one in self._wanted:
            one.cancel()
        self._wanted = [self._pool.submit(self.prepare, one) for one in subjects]

    def end(self) -> None:
        """Wait for the one that is being prepared, and prepare no other."""
        self._pool.shutdown(cancel_futures=True)
