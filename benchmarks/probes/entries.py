"""How many Python functions a build enters, without the tree of their callers.

A number alone costs a tenth of what the tree of `benchmarks.probes.profile` costs, so that graphs
of thousands of nodes can be counted.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any

from ..profiles import Profile
from .left_out import left_out
from .monitoring import monitoring


class EntryCounter:
    """Counts entries of functions in the place of a `Tracer`, and has no profile."""

    llvm_pass_runs: int | None = None
    """It does not ask for them."""

    def profile(self) -> Profile:
        """Return an empty profile."""
        return Profile()

    @contextmanager
    def counting_calls(self, counts: list[int]) -> Iterator[object]:
        """Append to ``counts`` the number of Python functions entered inside the block.

        Those of `left_out` are not counted.
        Raises AttributeError before Python 3.12, and ValueError if another tool monitors already.
        """
        disable: Any = sys.monitoring.DISABLE  # type: ignore[attr-defined,unused-ignore]
        entered = 0
        skipped = left_out()

        def enter(code: CodeType, offset: int) -> object:  # noqa: ARG001 - sys.monitoring's form
            nonlocal entered
            if id(code) in skipped:
                return disable
            entered += 1
            return None

        try:
            yield from monitoring({"PY_START": enter})
        finally:
            counts.append(entered)
