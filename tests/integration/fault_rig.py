"""A rig to try faults on: environments with one fault each, and the samples taken in them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from observatory.record.sample import Sample
from observatory.run import symbols
from observatory.run.environments import Environment
from observatory.run.uv import RealUv
from scripts.fault_kit import build
from tests.integration.conftest import Bench, Measured

Place = tuple[str, str, str]
"""Scenario, backend, launch."""
SMALL = "closures"
"""The model of siblings: four graphs of a second each, where radon's eight take a minute."""


@dataclass
class Rig:
    """Samples in one environment, each taken once; warm ones start from one cache a backend."""

    bench: Bench
    taken: dict[tuple[Place, str], Measured] = field(default_factory=dict)

    def take(self, place: Place, measure: str = "counting") -> Measured:
        scenario, backend, launch = place
        if (scenario, launch, measure) == ("cold", "fork", "counting"):
            return self.filler(backend)
        if (place, measure) not in self.taken:
            options = ["--launch", launch, "--measure", measure]
            if scenario.startswith(("warm", "call")):
                options += ["--cache", str(self.filled(backend))]
            if scenario == "siblings":
                self.taken[place, measure] = self._scanned(place, options)
            else:
                self.taken[place, measure] = self.bench.sample(scenario, backend, *options)
        return self.taken[place, measure]

    def _scanned(self, place: Place, options: list[str]) -> Measured:
        """Siblings, with the metrics of the cache that they left, as the tool records them."""
        scenario, backend, launch = place
        kept = self.bench.scratch / f"siblings-{backend}-{launch}"
        options = [*options, "--model", SMALL, "--keep-cache", str(kept)]
        taken = self.bench.sample(scenario, backend, *options)
        full = symbols.added(Sample.model_validate(taken.record), kept)
        return replace(taken, record=full.model_dump(mode="json", by_alias=True))

    def filler(self, backend: str) -> Measured:
        """The build that filled the cache."""
        place = ("cold", backend, "fork")
        if (place, "counting") not in self.taken:
            keep = ("--keep-cache", str(self.bench.scratch / backend))
            options = ("--launch", "fork", "--measure", "counting", *keep)
            self.taken[place, "counting"] = self.bench.sample("cold", backend, *options)
        return self.taken[place, "counting"]

    def filled(self, backend: str) -> Path:
        self.filler(backend)
        return self.bench.scratch / backend

    def count(self, place: Place, metric: str) -> int:
        found: int = self.take(place).metrics[metric]
        return found

    def misses(self, place: Place) -> list[dict[str, Any]]:
        return [e for e in self.take(place).record["ledger"] if e["outcome"] == "miss"]


def faulty(newest: Environment, name: str, scratch: Path) -> Environment:
    """An environment that borrows the packages of the real one, with the fault's wheel in it."""
    where = scratch / "env"
    RealUv()("venv", "--quiet", "--python", str(newest.python), str(where))
    (site,) = where.glob("lib/python*/site-packages")
    (real,) = newest.python.parent.parent.glob("lib/python*/site-packages")
    (site / "borrowed.pth").write_text(f"{real}\n")
    found = replace(newest, python=where / "bin" / "python")
    wheel = str(build(name, scratch))
    RealUv()("pip", "install", "--quiet", "--no-deps", "--python", str(found.python), wheel)
    return found
