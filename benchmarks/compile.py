"""ASV suite: how long compiling takes in every state of the caches. One class for each scenario."""

from __future__ import annotations

from .suites import suite


@suite("cold")
class Cold:
    """Empty disk cache, fresh process."""


@suite("warm_disk")
class WarmDisk:
    """Fresh process, copy of a filled cache."""


@suite("warm_process")
class WarmProcess:
    """Second build in one process."""


@suite("variants")
class Variants:
    """The eight variants after the base, in one process."""


@suite("siblings")
class Siblings:
    """Eight siblings fill one cache, a fresh process reads all."""
