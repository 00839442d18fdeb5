"""ASV suite: how long a call of a compiled function takes."""

from __future__ import annotations

from benchmarks.suites import Samples, suite, take_samples


@suite("call")
class Call:
    """Evaluate logp and gradient."""

    def setup_cache(self) -> Samples:
        """Take the samples."""
        return take_samples("call")
