"""ASV suite: how long compiling takes in every state of the caches. One class for each scenario."""

from __future__ import annotations

from benchmarks.suites import Samples, suite, take_samples

# Each class has its own `setup_cache`: asv distinguishes caches by the line of their function.


@suite("cold")
class Cold:
    """Empty disk cache, fresh process."""

    def setup_cache(self) -> Samples:
        """Take the samples."""
        return take_samples("cold")


@suite("warm_disk")
class WarmDisk:
    """Fresh process, copy of a filled cache."""

    def setup_cache(self) -> Samples:
        """Take the samples."""
        return take_samples("warm_disk")


@suite("warm_process")
class WarmProcess:
    """Second build in one process."""

    def setup_cache(self) -> Samples:
        """Take the samples."""
        return take_samples("warm_process")


@suite("variants")
class Variants:
    """The eight variants after the base, in one process."""

    def setup_cache(self) -> Samples:
        """Take the samples."""
        return take_samples("variants")


@suite("siblings")
class Siblings:
    """Eight siblings fill one cache, a fresh process reads all."""

    def setup_cache(self) -> Samples:
        """Take the samples."""
        return take_samples("siblings")
