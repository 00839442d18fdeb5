"""ASV suite of the canary: siblings that share one cache, in every arrangement.

`wrong_results` and `crashed` are expected to be 0. `compile.Siblings` is the arrangement in which
they build one after another.
"""

from __future__ import annotations

from benchmarks.catalogue import models_of
from benchmarks.suites import Samples, suite, take_samples

_MODELS = models_of("siblings")


@suite("siblings_at_once")
class SiblingsAtOnce:
    """All at the same time."""

    def setup_cache(self) -> Samples:
        """Take the samples."""
        return take_samples("siblings_at_once", _MODELS)


@suite("siblings_nested")
class SiblingsNested:
    """Each has forked another before it builds."""

    def setup_cache(self) -> Samples:
        """Take the samples."""
        return take_samples("siblings_nested", _MODELS)


@suite("siblings_after_build")
class SiblingsAfterBuild:
    """Their parent has built a graph before it forks."""

    def setup_cache(self) -> Samples:
        """Take the samples."""
        return take_samples("siblings_after_build", _MODELS)


@suite("siblings_threads")
class SiblingsThreads:
    """Threads of their parent work while it forks."""

    def setup_cache(self) -> Samples:
        """Take the samples."""
        return take_samples("siblings_threads", _MODELS)


@suite("siblings_reseeded")
class SiblingsReseeded:
    """Forked, the reader has another hash seed; spawned, all have one."""

    def setup_cache(self) -> Samples:
        """Take the samples."""
        return take_samples("siblings_reseeded", _MODELS)


@suite("sampling_cold")
class SamplingCold:
    """`pm.sample` in two processes, empty disk cache."""

    def setup_cache(self) -> Samples:
        """Take the samples."""
        return take_samples("sampling_cold", ("radon_pymc",))


@suite("sampling_warm")
class SamplingWarm:
    """The same on a copy of a filled cache."""

    def setup_cache(self) -> Samples:
        """Take the samples."""
        return take_samples("sampling_warm", ("radon_pymc",))


@suite("upgrade")
class Upgrade:
    """A subject on the cache that another one left.

    asv knows one subject at a time: `observatory upgrade` takes the samples, and asv shows them.
    """

    def setup_cache(self) -> Samples:
        """Nothing is taken here."""
        return {}
