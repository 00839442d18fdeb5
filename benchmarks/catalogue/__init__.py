"""The catalogue: one record for each model, scenario, backend, metric and cause.

What else is said of them (presets, estimates, charts, sentences, schemas, documentation) follows
from their records. Standard library only: both sides of a process boundary import it, the
environment under test and the tool.

asv looks for benchmarks in every module of this folder: no public function here may begin with
``time_``, ``timeraw_``, ``mem_``, ``peakmem_`` or ``track_``.
"""

from ..models import TOLERANCE, Model
from ..models.parts.path_steps import PATH_STEPS
from .backends import (
    ABLATIONS,
    BACKENDS,
    CACHES,
    MAIN_BACKENDS,
    SHARING_BACKENDS,
    Backend,
    without_cache,
)
from .cause import COSTS, FOLLOWS_FROM_A_CACHE, HEADLINE_TIMES, OF_A_CACHE, OF_WORK, Cause
from .causes import CAUSES, FIRST_CAUSES
from .matrix import (
    DEFAULT_MODEL,
    MATRIX_MODELS,
    MEMBERS,
    MODELS,
    QUICK_MODELS,
    STEADY,
    WITHOUT_SEARCH,
    Cell,
    backends_of,
    cells,
    headline_time,
    launches_of,
    metrics_of,
    models_of,
    quick_cells,
)
from .metric import Metric
from .metrics import (
    COMPARED,
    CORRECTNESS,
    METRICS,
    OF_PAIRS,
    REUSE_LOST,
    SECTIONS,
    SYMBOLS,
    TOLD_BY_NUMBA,
    WRONG_VALUES,
)
from .scenario import Scenario
from .scenarios import (
    BUILDS,
    FIRST_BUILDS,
    MATRIX_LAUNCHES,
    MATRIX_SCENARIOS,
    PATH,
    SAMPLING,
    SCENARIOS,
    SIBLINGS,
    WARM_SCENARIOS,
)
from .words import (
    FATES,
    LAUNCHES,
    MEASURES,
    OUTCOMES,
    SAMPLE_SCHEMA,
    SHARING_A_SEED,
    STATUSES,
    Kind,
    Measure,
    did_you_mean,
    no_such,
)

__all__ = [
    "ABLATIONS",
    "BACKENDS",
    "BUILDS",
    "CACHES",
    "CAUSES",
    "COMPARED",
    "CORRECTNESS",
    "COSTS",
    "DEFAULT_MODEL",
    "FATES",
    "FIRST_BUILDS",
    "FIRST_CAUSES",
    "FOLLOWS_FROM_A_CACHE",
    "HEADLINE_TIMES",
    "LAUNCHES",
    "MAIN_BACKENDS",
    "MATRIX_LAUNCHES",
    "MATRIX_MODELS",
    "MATRIX_SCENARIOS",
    "MEASURES",
    "MEMBERS",
    "METRICS",
    "MODELS",
    "OF_A_CACHE",
    "OF_PAIRS",
    "OF_WORK",
    "OUTCOMES",
    "PATH",
    "PATH_STEPS",
    "QUICK_MODELS",
    "REUSE_LOST",
    "SAMPLE_SCHEMA",
    "SAMPLING",
    "SCENARIOS",
    "SECTIONS",
    "SHARING_A_SEED",
    "SHARING_BACKENDS",
    "SIBLINGS",
    "STATUSES",
    "STEADY",
    "SYMBOLS",
    "TOLD_BY_NUMBA",
    "TOLERANCE",
    "WARM_SCENARIOS",
    "WITHOUT_SEARCH",
    "WRONG_VALUES",
    "Backend",
    "Cause",
    "Cell",
    "Kind",
    "Measure",
    "Metric",
    "Model",
    "Scenario",
    "backends_of",
    "cells",
    "did_you_mean",
    "headline_time",
    "launches_of",
    "metrics_of",
    "models_of",
    "no_such",
    "quick_cells",
    "without_cache",
]
