"""ASV suite: what a call of a compiled function costs."""

from __future__ import annotations

from benchmarks.suites import HOUR, Samples, suite, take_samples


@suite("call")
class Call:
    """Evaluate logp and gradient."""

    def setup_cache(self) -> Samples:
        """Take the samples."""
        return take_samples("call")

    setup_cache.timeout = HOUR  # type: ignore[attr-defined]
