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
from .waiting import WAITING

_TOOL = 4  # a free id of sys.monitoring: 0-2 and 5 have conventional owners


class EntryCounter:
    """Counts entries of functions in the place of a `Tracer`, and has no profile."""

    def profile(self) -> Profile:
        """Return an empty profile."""
        return Profile()

    @contextmanager
    def counting_calls(self, counts: list[int]) -> Iterator[None]:
        """Append to ``counts`` the number of Python functions entered inside the block.

        Those that wait for another process are left out.
        Raises AttributeError before Python 3.12, and ValueError if another tool monitors already.
        """
        monitoring: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
        start, entered = monitoring.events.PY_START, 0

        def enter(code: CodeType, offset: int) -> object:  # noqa: ARG001 - sys.monitoring's form
            nonlocal entered
            if id(code) in WAITING:
                return monitoring.DISABLE
            entered += 1
            return None

        monitoring.use_tool_id(_TOOL, "observatory")
        monitoring.register_callback(_TOOL, start, enter)
        monitoring.set_events(_TOOL, start)
        try:
            yield
        finally:
            monitoring.set_events(_TOOL, monitoring.events.NO_EVENTS)
            monitoring.free_tool_id(_TOOL)
            counts.append(entered)
