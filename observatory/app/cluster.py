"""The option `--cluster`: the one place that loads Dask."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from observatory.app.session import Session
from observatory.extras import extra


@contextlib.contextmanager
def on_cluster(session: Session, cluster: str | None) -> Iterator[Session]:
    """The session on a cluster, until the block ends; on this machine alone without one.

    ``cluster``: ``local:N`` for N workers on this machine, or the address of a scheduler of Dask.
    Raises FleetError if it cannot be used, and MissingLibraryError without the extra ``fleet``.
    """
    if cluster is None:
        yield session
        return
    with extra("fleet"):
        from observatory.fleet.opening import opened

    with opened(cluster, session.state, session.say) as fleet:
        machine = fleet.machine(session.machine)
        own = replace(session, fleet=fleet, workers=fleet.workers, machine=machine)
        # It is the same run, of subjects that have been looked up.
        for name in ("run", "subjects"):
            if name in vars(session):
                vars(own)[name] = vars(session)[name]
        yield own
        if said := fleet.report():
            session.say(said, "warning")


@dataclass(frozen=True)
class WorkerFacts:
    """What a worker of a cluster is, and what it cannot take."""

    address: str
    host: str
    cpus: tuple[int, ...]
    model: str
    """Of its CPUs: the class of machine."""
    pythons: tuple[str, ...]
    uncounted: str
    """Why it cannot take the pass `work`; empty if it can."""
    problem: str
    """Why it takes nothing; empty if it may measure."""


def workers_of(cluster: str, state: Path) -> list[WorkerFacts]:
    """Look at each worker of a cluster, without a sample.

    Raises FleetError if the cluster cannot be used, and MissingLibraryError without the extra
    ``fleet``.
    """
    with extra("fleet"):
        from observatory.fleet.opening import workers
    return [
        WorkerFacts(
            address, place.host, place.cpus, place.machine.cpu, found, place.uncounted,
            place.problem,
        )
        for address, place, found in workers(cluster, state)
    ]  # fmt: skip
