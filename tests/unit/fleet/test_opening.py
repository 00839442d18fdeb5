"""What `--cluster` may name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from observatory.app.cluster import on_cluster
from observatory.app.session import Session
from observatory.run.fleets import FleetError
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
