"""`doctor --cluster`: what it says of each worker, and when it refuses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import typer

from observatory.app.cluster import WorkerFacts
from observatory.cli.commands import doctor
from observatory.errors import Exit
from observatory.run.interpreters import SUPPORTED

GOOD = WorkerFacts("tcp://a:1", "one", (0, 1), "Some CPU", SUPPORTED, "", "")


def test_a_worker_that_takes_everything_is_named_with_its_cpus_and_model() -> None:
    found = doctor.examined(GOOD)
    assert (found.subject, found.state) == ("worker tcp://a:1", "fine")
    assert found.finding == "one, CPU 0, 1, Some CPU"


def test_what_a_worker_cannot_take_is_said() -> None:
    found = doctor.examined(replace(GOOD, pythons=SUPPORTED[1:], uncounted="no valgrind"))
    assert found.state == "fine"
    assert f"it takes no sample that needs Python {SUPPORTED[0]}" in found.finding
    assert "it does not take the pass `work`: no valgrind" in found.finding


@pytest.mark.parametrize("problem", ["", "it shares CPU 0 with the worker tcp://b:1"])
def test_a_worker_that_shares_its_cpu_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], problem: str
) -> None:
    monkeypatch.setattr(doctor, "workers_of", lambda *_: [GOOD, replace(GOOD, problem=problem)])
    if not problem:
        doctor.command(cluster="tcp://a", results=Path("none"))
        assert "Fit to measure." in capsys.readouterr().out
        return
    with pytest.raises(typer.Exit) as raised:
        doctor.command(cluster="tcp://a", results=Path("none"))
    assert raised.value.exit_code == Exit.UNFIT
    assert "NOT FIT to measure: worker tcp://a:1." in capsys.readouterr().out
