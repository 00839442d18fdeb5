"""A rig to try faults on: environments with one fault each, and the samples taken in them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from observatory.benchmarks.models.parts.radon_data import VARIANTS
from observatory.run.environments import Environment
from observatory.run.execute import with_symbols
from observatory.run.uv import RealUv
from observatory.store.records.sample import Sample
from scripts.faults.kit import build
from tests.integration.conftest import Bench, Measured, Shelf, borrowing

Place = tuple[str, str, str]
"""Scenario, backend, launch."""
FEW_VARIANTS = VARIANTS[:5:4]
"""The fifth equals the base. With a fault that stops sharing, all eight take minutes."""
CLOSURES = "closures"
"""The model of siblings: graphs of a second each, where radon's eight take a minute."""
TWO = ("times_2", "times_3")
"""As few siblings as siblings can be."""
SMALL = "threaded"
"""Four functions of numba, which compile in a third of the time of radon's 35."""
SHOWN_BY_SMALL = frozenset((
    "key_salted", "key_hash_seed", "outer_not_cached", "cache_dir_removed", "saved_never_loaded",
    "uid_counter", "rebuild_raises", "directory_grows", "descriptors_left", "garbage_collected",
    "variable_names_in_keys",
))  # fmt: skip
"""Faults that any graph of numba shows, so that the small one is built; variants are radon's."""
STORES = {
    "key_salted": ("NUMBA",),
    "key_hash_seed": ("NUMBA",),
    "saved_never_loaded": ("NUMBA",),
    "variable_names_in_keys": ("NUMBA",),
    "c_key_salted": ("C",),
}
"""Where a process with a fault stores something else, by backend. Its warm samples then start from
a cache that such a process filled; all others from the release's own, where they must find all that
their fault leaves alone."""


@dataclass(frozen=True)
class Rig:
    """Samples in one environment, each taken once; warm ones start from one cache a backend."""

    bench: Bench
    release: Bench
    stores: tuple[str, ...] = ()
    """The backends whose caches are filled in this environment, and not in the release's."""
    model: str = "radon"
    """What numba builds."""

    @property
    def without(self) -> Rig:
        """The same builds in the release, without the fault."""
        return Rig(self.release, self.release, model=self.model)

    def take(self, place: Place, measure: str = "counting") -> Measured:
        scenario, backend, launch = place
        model = {} if scenario == "variants" else self._model(backend)
        options = {"launch": launch, "measure": measure, **model}
        if scenario.startswith(("warm", "call")):
            filled = self._filled_in(backend)
            options["cache"] = str(filled.cache("cold", backend, **self._model(backend)))
        if scenario == "siblings":
            return self._scanned(backend, **options | {"model": CLOSURES})
        bench = self.bench
        if scenario == "variants":
            bench = replace(bench, graphs=FEW_VARIANTS)
        return bench.taken(scenario, backend, **options)

    def _scanned(self, backend: str, **options: str) -> Measured:
        """Siblings, with the metrics of the cache that they left, as the tool records them."""
        two = replace(self.bench, graphs=TWO)
        taken = two.taken("siblings", backend, **options)
        left = two.cache("siblings", backend, **options)
        full = with_symbols(Sample.model_validate(taken.record), left)
        return replace(taken, record=full.model_dump(mode="json", by_alias=True))

    def filler(self, backend: str) -> Measured:
        """The build that filled the cache."""
        return self._filled_in(backend).taken("cold", backend, **self._model(backend))

    def _model(self, backend: str) -> dict[str, str]:
        """The option that chooses the model; none for radon, whose samples other tests share."""
        small = backend == "NUMBA" and self.model != "radon"
        return {"model": self.model} if small else {}

    def _filled_in(self, backend: str) -> Bench:
        return self.bench if backend in self.stores else self.release

    def count(self, place: Place, metric: str) -> int:
        found: int = self.take(place).metrics[metric]
        return found

    def misses(self, place: Place) -> list[dict[str, Any]]:
        return [e for e in self.take(place).record["ledger"] if e["outcome"] == "miss"]


def with_fault(newest: Environment, name: str, shelf: Shelf) -> Environment:
    """The environment that all tests of a fault share: it is not to be changed."""
    where = shelf.made(f"fault-{name}", lambda made: faulty(newest, name, made))
    return replace(newest, python=where / "env" / "bin" / "python")


def faulty(newest: Environment, name: str, scratch: Path) -> Environment:
    """An environment that borrows the packages of the real one, with the fault's wheel in it."""
    found, _ = borrowing(newest, scratch / "env")
    wheel = str(build(name, scratch))
    RealUv()("pip", "install", "--quiet", "--no-deps", "--python", str(found.python), wheel)
    return found
