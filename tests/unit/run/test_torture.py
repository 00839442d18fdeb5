"""Running the faults, with stand-ins for the Python of an environment."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from observatory.run.torture import TortureError, journal_of, torture
from tests.factories import subject
from tests.factories_torture import torture as a_record
from tests.unit.run.test_contracts import environment


def test_the_record_is_told_whose_it_is(tmp_path: Path) -> None:
    printed, asked = tmp_path / "printed.json", tmp_path / "asked"
    printed.write_text(a_record(tried=None).model_dump_json(by_alias=True))
    place = environment(tmp_path, f'echo "$@" > {asked}; cat {printed}')
    record = torture(
        place, subject(), "bench", ["full", "killed"], 3, None, {"numba": place}, tmp_path / "kept",
        90.0,
    )  # fmt: skip
    assert record.tried is not None
    assert (record.tried.subject, record.tried.machine) == (subject(), "bench")
    assert record.tried.others == {"numba": place.versions.numba}
    assert asked.read_text() == (
        "-m benchmarks.torture --end-with-parent --only full --only killed --steps 3 --other "
        f"numba={place.python} --journal {tmp_path / 'kept'} --budget 90\n"
    )


def test_a_run_of_the_same_faults_has_the_same_journal_until_they_change(tmp_path: Path) -> None:
    place = environment(tmp_path, "")
    code = tmp_path / "benchmarks" / "torture" / "faults.py"
    code.parent.mkdir(parents=True)
    code.write_text("FAULTS = ()")
    place = replace(place, importable=tmp_path)
    first = journal_of(place, tmp_path, [12, "bench"])
    assert journal_of(place, tmp_path, [12, "bench"]) == first
    others = [journal_of(place, tmp_path, [3, "bench"])]
    others.append(journal_of(replace(place, key="another"), tmp_path, [12, "bench"]))
    code.write_text("FAULTS = (1,)")
    others.append(journal_of(place, tmp_path, [12, "bench"]))
    assert first not in others
    assert len(set(others)) == 3


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
