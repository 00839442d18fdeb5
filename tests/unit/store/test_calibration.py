"""The file of a machine's noise floor."""

from pathlib import Path

import pytest

from observatory.store.base.problems import RecordError
from observatory.store.records import calibration
from observatory.store.records.calibration import Calibration, Floor
from tests.factories import NOON, WARM, header


def made() -> Calibration:
    under = header()
    floor = Floor(cell=WARM, metric="compile_time", kind="noisy", samples=28, change=0.04)
    return Calibration(
        machine=under.machine,
        subject=under.subject,
        versions=under.versions,
        taken_at=NOON,
        floors=[floor],
    )


def test_it_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = calibration.save(tmp_path, made())
    assert path == tmp_path / "calibrations" / "bench.json"
    assert calibration.load(tmp_path, "bench") == made()


def test_a_machine_without_one_has_none(tmp_path: Path) -> None:
    assert calibration.load(tmp_path, "bench") is None


@pytest.mark.parametrize("content", ["", "{}", '{"schema": "other/1"}', "[" * 100_000])
def test_a_broken_one_is_named(tmp_path: Path, content: str) -> None:
    path = calibration.save(tmp_path, made())
    path.write_text(content)
    with pytest.raises(RecordError, match="is no calibration"):
        calibration.load(tmp_path, "bench")


def test_a_name_that_leaves_the_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="cannot be part of a file name"):
        calibration.load(tmp_path, "../bench")


def test_floors_of_another_cpu_are_not_kept() -> None:
    newer = made().model_copy(update={"floors": []})
    assert newer.with_floors_of(made()).floors == made().floors
    machine = newer.machine.model_copy(update={"cpu": "Other"})
    assert newer.model_copy(update={"machine": machine}).with_floors_of(made()).floors == []
