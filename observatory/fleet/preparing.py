"""Done at every place before samples are taken there: environments, and a look at its speed."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from distributed import Future

from observatory.fleet import joining
from observatory.fleet import worker as remote
from observatory.fleet.crew import Crew
from observatory.fleet.making import described
from observatory.fleet.orders import BENCH, Recipe
from observatory.run.environments import Environment, EnvironmentMakingError
from observatory.run.placing import Placing
from observatory.store.records.subject import Subject

_LOOK = 2.0
"""Seconds between two looks at whether the workers are still there."""


class _GoneError(Exception):
    """The workers of a place went away before they had done what they were asked."""


def prepared(
    crew: Crew, state: Path, subject: Subject, added: Sequence[str], pins: Mapping[str, str],
    environment: Environment, placing: Placing,
) -> Recipe:  # fmt: skip
    """Make the environment of a subject at every place that has none, and return its recipe.

    ``environment``: the client's own. A place that cannot make the same takes no sample of the
    subject. Raises EnvironmentMakingError if none can.
    """
    away = {name: site for name, site in crew.sites.items() if not site.place.home}
    if not away:
        return Recipe(subject, tuple(added), dict(pins), environment)
    recipe, wheels = described(subject, added, pins, environment, state)
    makings = {}
    for name in away:
        for wheel in crew.ask(name, remote.lacking, recipe.wheels, name):
            crew.ask(name, remote.keep, wheel, wheels[wheel.digest], name)
        makings[name] = _begun(crew, name, remote.make, recipe, name)
    for name, future in makings.items():
        try:
            _waited(crew, name, future)
        except Exception as error:  # whatever went wrong there
            crew.say(f"{away[name].place.host} takes no sample: {error}")
            placing.leave(name, str(error))
    if all(map(placing.is_left, crew.sites)):
        raise EnvironmentMakingError(
            f"no worker of the cluster can take a sample of {subject.label}"
        )
    return recipe


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
    since, generation = time.monotonic(), site.generation
    while True:
        with contextlib.suppress(TimeoutError):
            error = future.exception(timeout=_LOOK)
            if error is not None:
                raise error
            return future.result()
        crew.refresh()
        if site.addresses:
            since = time.monotonic()
        # Dask gives the task to no worker that joins later; see `taking`.
        if site.generation != generation or time.monotonic() - since > crew.patience:
            future.cancel()
            raise _GoneError("its workers went away while they prepared it")
