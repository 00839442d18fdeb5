"""What `--cluster` may name."""

from __future__ import annotations

import os
from contextlib import nullcontext
from pathlib import Path

import pytest

from observatory.app import session as module
from observatory.app.cluster import on_cluster
from observatory.app.session import Session
from observatory.fleet import opening
from observatory.run.fleets import FleetError
from observatory.store.records.machine import Machine
from tests.factories import header


@pytest.mark.parametrize("number", [0, len(os.sched_getaffinity(0)) + 1])
def test_more_workers_than_cpus_are_refused(tmp_path: Path, number: int) -> None:
    session = Session("fake", tmp_path / "results", tmp_path / "state", header().machine)
    said = rf"--cluster local:{number}: each worker owns a CPU, and this machine has \d+; give "
    with pytest.raises(FleetError, match=said), on_cluster(session, f"local:{number}"):
        pass


def test_what_is_no_address_is_refused(tmp_path: Path) -> None:
    session = Session("fake", tmp_path / "results", tmp_path / "state", header().machine)
    with pytest.raises(FleetError, match="write local:N"), on_cluster(session, "nonsense://x"):
        pass


def test_without_the_option_the_session_stays_as_it_is(tmp_path: Path) -> None:
    session = Session("fake", tmp_path / "results", tmp_path / "state", header().machine)
    with on_cluster(session, None) as own:
        assert own is session


def test_a_run_has_one_name_on_the_cluster_and_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Fleet:
        workers = 3

        def machine(self, own: Machine) -> Machine:
            return own.model_copy(update={"cpu": "Else"})

        def report(self) -> str:
            return "1 sample begun again"

    said: list[str] = []
    session = Session(
        "fake", tmp_path / "results", tmp_path / "state", header().machine,
        progress=lambda update: said.append(str(update)),
    )  # fmt: skip
    monkeypatch.setattr(opening, "opened", lambda *_: nullcontext(Fleet()))
    monkeypatch.setattr(module, "new_run", lambda plan: f"{plan}-{len(said)}")
    name = session.run
    said.append("a second later")
    with on_cluster(session, "local:3") as own:
        assert (own.run, own.workers, own.machine.cpu) == (name, 3, "Else")
    assert said[-1] == "1 sample begun again"


def test_workers_that_do_not_start_are_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dask raises RuntimeError where the loopback device refuses its scheduler."""

    def refused(**_: object) -> None:
        raise RuntimeError("Cluster failed to start: [Errno 101] Network is unreachable")

    monkeypatch.setattr(opening, "LocalCluster", refused)
    with (
        pytest.raises(FleetError, match=r"--cluster local:1: the workers do not start \(Cluster"),
        opening.opened("local:1", tmp_path, lambda _: None),
    ):
        pass
