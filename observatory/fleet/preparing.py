"""Done at every place before samples are taken there: environments, and a look at its speed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from distributed import Future

from observatory.fleet import joining
from observatory.fleet import worker as remote
from observatory.fleet.crew import Crew
from observatory.fleet.making import described
from observatory.fleet.orders import BENCH, Recipe
from observatory.run.environments import Environment
from observatory.run.placing import Placing
from observatory.store.records.subject import Subject

_LOOK = 2.0
"""Seconds between two looks at whether the workers are still there."""


class _GoneError(Exception):
    """The workers of a place went away before they had done what they were asked."""


@dataclass
class Preparing:
    """Makes the environment of a subject at places, as they join."""

    crew: Crew
    state: Path
    subject: Subject
    added: Sequence[str]
    pins: Mapping[str, str]
    environment: Environment
    """The client's own."""
    placing: Placing
    _described: tuple[Recipe, dict[str, bytes]] | None = None

    @property
    def recipe(self) -> Recipe:
        """What makes the environment; without hashes as long as only this machine measures."""
        if self._described is not None:
            return self._described[0]
        return Recipe(self.subject, tuple(self.added), dict(self.pins), self.environment)

    def at(self, names: Iterable[str]) -> None:
        """Make the environment at some places.

        One that cannot make the client's takes no sample of the subject.
        """
        away = [name for name in names if not self.crew.sites[name].place.home]
        if away and self._described is None:
            self._described = described(
                self.subject, self.added, self.pins, self.environment, self.state
            )
        makings = {}
        for name in away:
            with self._left_if_it_fails(name):
                makings[name] = self._begun(name)
        for name, future in makings.items():
            with self._left_if_it_fails(name):
                _waited(self.crew, name, future)

    def _begun(self, name: str) -> Future[Any]:
        assert self._described is not None
        recipe, wheels = self._described
        for wheel in self.crew.ask(name, remote.lacking, recipe.wheels, name):
            self.crew.ask(name, remote.keep, wheel, wheels[wheel.digest], name)
        return _begun(self.crew, name, remote.make, recipe, name)

    @contextlib.contextmanager
    def _left_if_it_fails(self, name: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # whatever went wrong there
            self.crew.say(f"{self.crew.sites[name].place.host} takes no sample: {error}")
            self.placing.leave(name, str(error))


def quarantined(crew: Crew, names: Iterable[str]) -> dict[str, str]:
    """Those of some places whose times are not trusted, with the reason."""
    looks = {name: _begun(crew, name, remote.watch, name, joining.boot_id()) for name in names}
    found = {}
    for name, future in looks.items():
        try:
            why = _waited(crew, name, future)
        except Exception as error:  # whatever went wrong there
            why = f"the sentinel could not look at it: {error}"
        if why:
            host = crew.sites[name].place.host
            crew.say(f"{host} takes no times, only counts: {why}")
            found[name] = why
    return found


def _begun(crew: Crew, name: str, function: Callable[..., Any], *args: object) -> Future[Any]:
    """Let a worker of a place do something that takes long."""
    resources = {BENCH: 1, crew.sites[name].place.resource: 1}
    return crew.client.submit(function, *args, pure=False, resources=resources)


def _waited(crew: Crew, name: str, future: Future[Any]) -> Any:
    """What a worker returned. Raises what it raised, _GoneError and FleetError."""
    site = crew.sites[name]
    generation = site.generation
    while True:
        with contextlib.suppress(TimeoutError):
            error = future.exception(timeout=_LOOK)
            if error is not None:
                raise error
            return future.result()
        crew.refresh()
        # Dask gives the task to no worker that joins later; see `handing`.
        if site.generation != generation or site.deserted_for > crew.patience:
            future.cancel()
            raise _GoneError("its workers went away while they prepared it")
