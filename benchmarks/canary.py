"""ASV suites of what is neither one build nor a call: the canary, `pm.sample` and many graphs.

Of siblings that share one cache, `wrong_results` and `crashed` are expected to be 0.
`compile.Siblings` is the arrangement in which they build one after another.

All are in this module because their names begin with it, as in `canary.CensusCold`: results are
stored under these names. asv would accept a `benchmark_name` that differs from the module, but then
every process that it starts would import all modules to find the class.
"""

from __future__ import annotations

from .catalogue import models_of
from .suites import Samples, suite

_MODELS = models_of("siblings")


@suite("siblings_at_once", _MODELS)
class SiblingsAtOnce:
    """All at the same time."""


@suite("siblings_nested", _MODELS)
class SiblingsNested:
    """Each has forked another before it builds."""


@suite("siblings_after_build", _MODELS)
class SiblingsAfterBuild:
    """Their parent has built a graph before it forks."""


@suite("siblings_threads", _MODELS)
class SiblingsThreads:
    """Threads of their parent work while it forks."""


@suite("siblings_reseeded", _MODELS)
class SiblingsReseeded:
    """Forked, the reader has another hash seed; spawned, all have one."""


@suite("sampling_cold", ("radon_pymc",))
class SamplingCold:
    """`pm.sample` in two processes, empty disk cache."""


@suite("sampling_warm", ("radon_pymc",))
class SamplingWarm:
    """The same on a copy of a filled cache."""


@suite("path_cold", models_of("path_cold"))
class PathCold:
    """The path of a user of PyMC, from an empty cache."""


@suite("path_warm", models_of("path_warm"))
class PathWarm:
    """The same from a filled cache."""


@suite("census_cold", models_of("census_cold"))
class CensusCold:
    """Every Op, from an empty cache."""


@suite("census_warm", models_of("census_warm"))
class CensusWarm:
    """Every Op, from a filled cache."""


@suite("topics", models_of("topics"))
class Topics:
    """What users ask whether PyTensor does it."""


@suite("pairs_first", models_of("pairs_first"))
class PairsFirst:
    """The first graph of every pair."""


@suite("pairs_second", models_of("pairs_second"))
class PairsSecond:
    """The second graph of every pair, from the cache that the first ones filled."""


@suite("pairs_keys", models_of("pairs_keys"))
class PairsKeys:
    """The keys of both graphs of every pair, compared."""


@suite("key_making", models_of("key_making"))
class KeyMaking:
    """What the keys of graphs of 10 to 10,000 nodes cost, and those of constants."""


@suite("freezing", models_of("freezing"))
class Freezing:
    """What frozen inner graphs of 10 to 10,000 nodes cost, and which of them are equal."""


@suite("growth", models_of("growth"))
class Growth:
    """How builds and calls grow with counties, layers, nodes and inputs."""


@suite("upgrade")
class Upgrade:
    """A subject on the cache that another one left.

    asv knows one subject at a time: `observatory upgrade` takes the samples, and asv shows them.
    """

    def setup_cache(self) -> Samples:
        """Take no samples."""
        return {}
