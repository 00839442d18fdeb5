"""The one tool of `sys.monitoring` (PEP 669, Python 3.12+) that the probes take in turns."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

_TOOL = 4  # a free id: 0-2 and 5 have conventional owners


def monitoring(
    callbacks: Mapping[str, Callable[..., object]], *, at_once: bool = True
) -> Iterator[tuple[Callable[[], None], Callable[[], None]]]:
    """Have functions called at the events of their names until the end of a block.

    A context manager delegates to this generator by ``yield from``: to enter another one would
    itself be counted. Yields what switches the events on and what switches them off, neither of
    which is a Python function; ``at_once``: whether they begin switched on.

    Raises AttributeError before Python 3.12, and ValueError if another tool monitors already.
    """
    tools: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
    events = {getattr(tools.events, name): callback for name, callback in callbacks.items()}
    on = partial(tools.set_events, _TOOL, sum(events))
    off = partial(tools.set_events, _TOOL, tools.events.NO_EVENTS)
    tools.use_tool_id(_TOOL, "observatory")
    try:
        for event, callback in events.items():
            tools.register_callback(_TOOL, event, callback)
        if at_once:
            on()
        yield on, off
    finally:
        off()
        tools.free_tool_id(_TOOL)
