"""ASV suite: how long a call of a compiled function takes."""

from __future__ import annotations

from .suites import suite


@suite("call")
class Call:
    """Evaluate logp and gradient."""
