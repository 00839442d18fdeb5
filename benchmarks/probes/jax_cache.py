"""Probe on JAX: which functions it compiles, and which its persistent cache returns.

JAX reports this itself, in its monitoring events. For each function it says whether the cache is
asked, whether it had the function, and at the end, with the name, how long that took. The event of
a miss says that the function was stored.
"""

from __future__ import annotations

from typing import Any

from ..messages import LedgerEntry, LedgerOutcome
from .ledger import Ledger, shorten

KIND = "jax"
PACKAGE = "jax"
"""What must be installed for it."""
LOOKS_AT = "jax"
"""The module that it hooks into."""
_OUTCOMES: dict[str, LedgerOutcome] = {
    "/jax/compilation_cache/cache_hits": "hit",
    "/jax/compilation_cache/cache_misses": "miss",
}
_COMPILED = "/jax/core/compile/backend_compile_duration"


def install(ledger: Ledger) -> None:
    """Listen to JAX's events. Call it once in a process. Raises ImportError without JAX."""
    import jax.monitoring

    seen = _Events(ledger)
    seen.note_keys()
    jax.monitoring.register_event_listener(seen.outcome)
    jax.monitoring.register_event_duration_secs_listener(seen.compiled)


class _Events:
    """What the events of the function that is being compiled have said so far."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._outcome: LedgerOutcome = "internal"
        self._key = ""

    def note_keys(self) -> None:
        """Note the keys that the cache is asked for: no event has them."""
        try:
            from jax._src import compilation_cache
        except ImportError:
            return
        original = getattr(compilation_cache, "get_cache_key", None)
        if original is None:
            return

        def get_cache_key(*args: Any, **kwargs: Any) -> Any:
            self._key = original(*args, **kwargs)
            return self._key

        compilation_cache.get_cache_key = get_cache_key

    def outcome(self, event: str, **_: Any) -> None:
        """Take an event without a duration."""
        self._outcome = _OUTCOMES.get(event, self._outcome)

    def compiled(self, event: str, duration: float, **about: Any) -> None:
        """Take an event with a duration, in seconds: the last one of each function."""
        if event != _COMPILED:
            return
        outcome, key = self._outcome, self._key
        self._outcome, self._key = "internal", ""
        ledger = self._ledger
        if ledger.recording:
            asked = outcome != "internal"
            ledger.entries.append(
                LedgerEntry(
                    shorten(str(about.get("fun_name", "a function of JAX"))),
                    KIND,
                    key=str(key)[:200] if asked else "",
                    outcome=outcome,
                    source="disk" if outcome == "hit" else None,
                    seconds=round(duration, 6),
                    step=ledger.step,
                )
            )
