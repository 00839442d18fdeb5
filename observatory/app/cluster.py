"""The option `--cluster`: the one place that loads Dask."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace

from observatory.app.session import Session
from observatory.extras import extra


@contextlib.contextmanager
def on_cluster(session: Session, cluster: str | None) -> Iterator[Session]:
    """The session on a cluster, until the block ends; on this machine alone without one.

    ``cluster``: ``local:N`` for N workers on this machine, or the address of a scheduler of Dask.
    Raises FleetError if it cannot be used, and ExtraError without the extra ``fleet``.
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
