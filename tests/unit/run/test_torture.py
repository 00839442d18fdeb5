"""Running the faults, with stand-ins for the Python of an environment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from observatory.run.torture import TortureError, torture
from tests.factories import subject
from tests.factories_torture import torture as a_record
from tests.unit.run.test_contracts import environment


def test_the_record_is_told_whose_it_is(tmp_path: Path) -> None:
    printed, asked = tmp_path / "printed.json", tmp_path / "asked"
    printed.write_text(a_record(tried=None).model_dump_json(by_alias=True))
    place = environment(tmp_path, f'echo "$@" > {asked}; cat {printed}')
    record = torture(place, subject(), "bench", ["full", "killed"], 3)
    assert record.tried is not None
    assert (record.tried.subject, record.tried.machine) == (subject(), "bench")
    assert asked.read_text() == (
        "-m benchmarks.torture --end-with-parent --only full --only killed --steps 3\n"
    )


def test_a_run_that_prints_no_record_is_quoted(tmp_path: Path) -> None:
    place = environment(tmp_path, "echo nonsense; echo No module named numba >&2; exit 1")
    with pytest.raises(TortureError, match=r"status 1.*no record.*No module named numba"):
        torture(place, subject(), "bench")


def test_a_run_that_hangs_is_ended(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    place = environment(tmp_path, f"echo $$ > {pid}; exec sleep 60")
    with pytest.raises(TortureError, match=r"the faults did not end within 0\.5 s"):
        torture(place, subject(), "bench", timeout=0.5)
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)
