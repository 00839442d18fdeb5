"""What can be measured: cells, and the metrics that each of them has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import product

from ..models import Model, ModelError, discovered, file_of
from .backends import BACKENDS
from .metric import Metric
from .metrics import METRICS
from .scenarios import MATRIX_LAUNCHES, MATRIX_SCENARIOS, SCENARIOS, WARM_SCENARIOS
from .words import LAUNCHES, no_such


def _checked(models: Mapping[str, Model]) -> Mapping[str, Model]:
    """These models. Raises ModelError if one of them leaves out a backend that does not exist."""
    for name, model in models.items():
        for backend in (*model.without, *model.only):
            if backend not in BACKENDS:
                raise ModelError(f"{file_of(name)}: {no_such('backend', backend, BACKENDS)}")
    return models


MODELS = _checked(discovered())
DEFAULT_MODEL = "radon"
"""The model that is built, and compared, where nobody names one."""
MEMBERS = {name: model.members for name, model in MODELS.items() if model.members}
"""The graphs of a model, in the order in which siblings, variants and upgrades build them."""


MATRIX_MODELS = tuple(name for name, model in MODELS.items() if "build" in model.families)
"""The models of the matrix: those whose single builds are measured."""


QUICK_MODELS = tuple(name for name, model in MODELS.items() if model.quick_of)
"""The models of quick sets, which every comparison and the canary build."""


def quick_cells(backends: tuple[str, ...], launches: tuple[str, ...]) -> tuple[Cell, ...]:
    """Return the cells of the quick sets with these backends and start methods."""
    scenarios = tuple(name for name, one in SCENARIOS.items() if one.compared)
    return tuple(cells(QUICK_MODELS, scenarios, backends, launches))


def models_of(scenario: str) -> tuple[str, ...]:
    """The models that a scenario is measured with, in the order of the catalogue."""
    family = SCENARIOS[scenario].family
    return tuple(name for name, model in MODELS.items() if family in model.families)


def backends_of(scenario: str) -> tuple[str, ...]:
    """The backends that a scenario is measured with, in the order of the catalogue."""
    return tuple(name for name in BACKENDS if name in SCENARIOS[scenario].backends)


def launches_of(scenario: str) -> tuple[str, ...]:
    """The start methods that a scenario is measured with."""
    return SCENARIOS[scenario].launches


@cache
def metrics_of(scenario: str, launch: str, *, derived: bool = False) -> tuple[Metric, ...]:
    """The metrics that a cell of this scenario and start method is asked for.

    ``derived``: also those that the tool derives from its samples. Of a scenario that the catalogue
    does not have there are none.
    """
    family = SCENARIOS[scenario].family if scenario in SCENARIOS else ""
    return tuple(
        metric
        for metric in METRICS.values()
        if family in metric.families
        and (not metric.of_filled or scenario in WARM_SCENARIOS)
        and (derived or not metric.derived)
        and (not metric.launches or launch in metric.launches)
    )


def headline_time(scenario: str) -> str:
    """The metric that says how long a user waits in a scenario, known or unknown."""
    return SCENARIOS[scenario].headline if scenario in SCENARIOS else "compile_time"


STEADY = ", without lookups and allocations"
"""How the words for a source say that it leaves out what depends on addresses."""
WITHOUT_SEARCH = ", without the search for a BLAS"
"""How they say that it leaves out what depends on the libraries that the machine has."""


@dataclass(frozen=True, order=True)
class Cell:
    """One place of the matrix: model x scenario x backend x launch."""

    model: str
    scenario: str
    backend: str
    launch: str

    def __str__(self) -> str:
        return f"{self.model} {self.scenario} {self.backend} {self.launch}"

    @property
    def filler(self) -> Cell:
        """The build that fills its cache; the cold build for a cell that starts from none."""
        filled_by = SCENARIOS[self.scenario].filled_by or "cold"
        return replace(self, scenario=filled_by, backend=self.cache_backend)

    def problem(self) -> str | None:
        """Say in a sentence why this combination is not one that is measured; None if it is."""
        for word, known, noun in (
            (self.model, MODELS, "model"),
            (self.scenario, SCENARIOS, "scenario"),
            (self.backend, BACKENDS, "backend"),
            (self.launch, LAUNCHES, "start method"),
        ):
            if word not in known:
                return no_such(noun, word, known)
        for word, possible, noun in (
            (self.model, models_of(self.scenario), "model"),
            (self.backend, backends_of(self.scenario), "backend"),
            (self.launch, launches_of(self.scenario), "start method"),
        ):
            if word not in possible:
                return (
                    f"scenario {self.scenario} is not measured with {noun} {word}; "
                    f"choose from {', '.join(possible)}"
                )
        model = MODELS[self.model]
        if model.lacks(self.backend):
            why = model.because
            return f"model {self.model} is not measured with backend {self.backend}: {why}"
        return None

    def counted_by(self, source: str | None, *, steady: bool = False) -> str | None:
        """What counts its instructions, in words.

        ``source``: what counts on this machine; None or empty, and returned so: nothing does.
        ``steady``: whether it leaves out lookups and allocations. Calls name their thread, and
        first builds that they leave out the search for a BLAS: older versions recorded calls in the
        main thread, and searches, and those counts are of other series.
        """
        if not source:
            return source
        own_thread = SCENARIOS[self.scenario].family == "call"
        words = source + STEADY * steady + ", in a thread of its own" * own_thread
        return words + WITHOUT_SEARCH * self.searches_for_blas

    @property
    def traced_by(self) -> str | None:
        """What counts its Python calls, in words; None where no version left out a part of them."""
        return "sys.monitoring" + WITHOUT_SEARCH if self.searches_for_blas else None

    @property
    def links_blas(self) -> bool:
        """Whether its code may be C that is linked with a BLAS."""
        return BACKENDS[self.backend].cache in ("c_module", "")

    @property
    def searches_for_blas(self) -> bool:
        """Whether the measured build is the first one of its process that may link with a BLAS."""
        scenario = SCENARIOS[self.scenario]
        return self.links_blas and scenario.family == "build" and not scenario.warm_ups

    @property
    def primary(self) -> bool:
        """Whether users wait for it every day: a warm build or a call, with a backend they choose.

        The others (first builds, graphs made for a purpose, ablations) are secondary.
        """
        scenario, backend, model = (
            SCENARIOS.get(self.scenario), BACKENDS.get(self.backend), MODELS.get(self.model)
        )  # fmt: skip
        if scenario is None or backend is None or model is None:
            return False
        return scenario.timed and backend.main and "build" in model.families

    @property
    def installs(self) -> tuple[str, ...]:
        """The requirements that its environment gets beside the subject's."""
        known = BACKENDS.get(self.backend)
        return () if known is None else known.installs

    @property
    def cache_backend(self) -> str:
        """The backend that fills the cache this cell starts from: an ablation's parent."""
        known = BACKENDS.get(self.backend)
        return self.backend if known is None else known.cache_backend


def cells(
    models: tuple[str, ...] = (DEFAULT_MODEL,),
    scenarios: tuple[str, ...] = MATRIX_SCENARIOS,
    backends: tuple[str, ...] = tuple(BACKENDS),
    launches: tuple[str, ...] = MATRIX_LAUNCHES,
) -> Iterator[Cell]:
    """Every measured cell of the product, in the order in which the words are given."""
    for model, scenario, backend, launch in product(models, scenarios, backends, launches):
        cell = Cell(model, scenario, backend, launch)
        if cell.problem() is None:
            yield cell
